package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// shown are the keys of the README's table, by path, with their defaults as it writes them.
func shown(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Configuration\n")
	section, _, _ = strings.Cut(section, "\n## ")
	table := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.NewReplacer("`", "", " ", "").Replace(line), "|")
		if !strings.HasPrefix(line, "| `") || strings.Contains(cells[1], "[]") || strings.HasSuffix(cells[1], ".NAME") {
			continue // lists and maps of structures are shown by the names of their fields
		}
		keys, values := strings.Split(cells[1], "/"), strings.Split(cells[2], "/")
		for i, key := range keys {
			if !strings.Contains(key, ".") {
				key = parent(keys[0]) + "." + key
			}
			table[key] = values[i]
		}
	}
	return table
}

// TestReadmeDefaults: the table of the README tells the keys that do something, and their defaults.
func TestReadmeDefaults(t *testing.T) {
	table := shown(t)
	for path, value := range table {
		section, key, _ := strings.Cut(path, ".")
		if value == "" {
			value = `""`
		}
		got, want := mustLoad(t, section+": {"+key+": "+value+"}\n").Config, mustLoad(t, "").Config
		if len(got.LlamaServer.Args) == 0 {
			got.LlamaServer.Args = nil // as good as empty
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s is not the default", path, value)
		}
	}
	for _, path := range scalarPaths("", reflect.TypeFor[Config]()) {
		section, _, _ := strings.Cut(path, ".")
		used := section != "local_tools"
		if _, ok := table[path]; ok != used {
			t.Errorf("%s: in the table %v, in use %v", path, ok, used)
		}
	}
}

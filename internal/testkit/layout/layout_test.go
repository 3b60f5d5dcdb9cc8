package layout

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTree holds this project's own tree to the rules.
func TestTree(t *testing.T) {
	root := os.DirFS("../../..")
	packages, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(packages, func(p pack) bool { return p.folder == "internal/testkit/layout" }) {
		t.Fatal("this is not the tree")
	}
	faults, err := Check(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}

// TestAnyGoOfTheSeries: the README asks for Go 1.26, so no module may ask for a later patch of it.
func TestAnyGoOfTheSeries(t *testing.T) {
	for _, name := range []string{"../../../go.mod", "../../../bench/go.mod"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\ngo 1.26.0\n") {
			t.Errorf("%s asks for another Go", name)
		}
	}
}

// source returns a file with a package comment and some imports.
func source(imports ...string) string {
	var text strings.Builder
	text.WriteString("// Package p is for a test.\npackage p\n")
	for _, name := range imports {
		text.WriteString("import _ \"" + name + "\"\n")
	}
	return text.String()
}

func tree(files map[string]string) fstest.MapFS {
	fs := fstest.MapFS{}
	for name, text := range files {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fs
}

func check(t *testing.T, files map[string]string) []string {
	t.Helper()
	faults, err := Check(tree(files))
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

func TestImports(t *testing.T) {
	cases := []struct {
		name    string
		imports string
		fault   bool
	}{
		{"sources/llama/a.go", "sluice/sources/sse", false},
		{"sources/gateway/a.go", "sluice/sources/sse", false},
		{"sources/gateway/a.go", "github.com/coder/websocket", false},
		{"sources/llama/a.go", "github.com/coder/websocket", true},
		{"sources/llama/a.go", "sluice/sources/demo", true},
		{"sources/llama/a.go", "sluice/sources/llama/template", false},
		{"sources/llama/template/a.go", "sluice/sources/llama", false},
		{"sources/stdin/a.go", "sluice/sources/sse", true},
		{"sources/stdin/a.go", "github.com/reugn/go-streams/flow", false},
		{"sources/stdin/a.go", "github.com/reugn/go-streams-other", true},
		{"sources/sse/a.go", "sluice/internal/wire", true},
		{"sources/sse/a.go", "bytes", false},
		{"sources/new/a.go", "bytes", true},
		{"stages/parse/a.go", "sluice/stages/validate", true},
		{"stages/parse/a.go", "github.com/tidwall/gjson", false},
		{"stages/parse/a.go", "github.com/tidwall/match", true},
		{"stages/transform/a.go", "github.com/tidwall/gjson", true},
		{"stages/route/a.go", "sluice/pipeline", true},
		{"stages/execute/a.go", "sluice/sources/llama", true},
		{"stages/execute/a.go", "sluice/stages/execute/session", false},
		{"stages/execute/session/a.go", "modernc.org/sqlite", false},
		{"stages/execute/session/a.go", "sluice/pipeline", true},
		{"sinks/stdout/a.go", "sluice/stages/encode", true},
		{"sinks/stdout/a.go", "sluice/cmd/sluice", true},
		{"pipeline/a.go", "sluice/stages/execute/session", false},
		{"pipeline/a.go", "sluice/sources/llama", true},
		{"pipeline/a.go", "sluice/cmd/sluice", true},
		{"pipeline/a.go", "sluice/pipelines", true},
		{"cmd/sluice/a.go", "sluice/pipeline", false},
		{"cmd/sluice/a.go", "github.com/spf13/cobra", false},
		{"cmd/other/a.go", "sluice/pipeline", true},
		{"internal/wire/a.go", "github.com/tidwall/gjson", false},
		{"internal/wire/a.go", "github.com/tidwall/sjson", true},
		{"internal/wire/a.go", "sluice/internal/config", true},
		{"internal/config/a.go", "sluice/internal/wire", true},
		{"internal/config/a.go", "github.com/caarlos0/env/v11", false},
		{"stages/execute/a.go", "sluice/internal/testkit", true},
		{"stages/execute/a_test.go", "sluice/internal/testkit", false},
	}
	for _, c := range cases {
		faults := check(t, map[string]string{c.name: source("errors", c.imports)})
		if (len(faults) != 0) != c.fault {
			t.Errorf("%s imports %s: got %q; a fault is wanted: %v", c.name, c.imports, faults, c.fault)
		}
	}
}

func TestPure(t *testing.T) {
	cases := []struct {
		code  string
		fault string
	}{
		{"import \"time\"\nvar d = 3 * time.Second", ""},
		{"import \"strconv\"\nvar s = strconv.Itoa(1)", ""},
		{"func f() { go f() }", "starts a goroutine"},
		{"var c chan int", "uses a channel"},
		{"func f(c interface{ C() <-chan int }) {}", "uses a channel"},
		{"func f() { select {} }", "uses a channel"},
		{"func f() { <-c() }", "uses a channel"},
		{"func f() { c() <- 1 }", "uses a channel"},
		{"import \"sync\"\nvar m sync.Mutex", "imports sync"},
		{"import \"sync/atomic\"\nvar m atomic.Bool", "imports sync/atomic"},
		{"import \"os\"\nvar f = os.Stdin", "imports os"},
		{"import \"io\"\nvar e = io.EOF", "imports io"},
		{"import \"net/http\"\nvar c http.Client", "imports net/http"},
		{"import \"context\"\nvar c context.Context", "imports context"},
		{"import \"log/slog\"\nvar l slog.Logger", "imports log/slog"},
		{"import \"time\"\nvar t = time.Now()", "calls time.Now"},
		{"import \"time\"\nvar t = time.AfterFunc", "calls time.AfterFunc"},
		{"import clock \"time\"\nvar t = clock.Now()", "renames package time"},
		{"import . \"time\"\nvar t = Now()", "renames package time"},
	}
	for _, c := range cases {
		text := "// Package p is for a test.\npackage p\n" + c.code + "\n"
		for _, folder := range []string{"parse", "validate", "route", "transform", "encode", "encode/text"} {
			name := "stages/" + folder + "/a.go"
			var want []string
			if c.fault != "" {
				want = []string{name + " is pure and " + c.fault}
			}
			if got := check(t, map[string]string{name: text}); !slices.Equal(got, want) {
				t.Errorf("%s\ngot %q; want %q", c.code, got, want)
			}
		}
		if got := check(t, map[string]string{"stages/execute/a.go": text}); len(got) != 0 {
			t.Errorf("%s\nexecute is not pure; got %q", c.code, got)
		}
	}
}

func TestPackageComment(t *testing.T) {
	const with, without = "// Package p is for a test.\npackage p\n", "//go:build linux\n\npackage p\n"
	cases := []struct {
		a, b, test string
		fault      string
	}{
		{with, without, "", ""},
		{without, with, "", ""},
		{with, with, "", "internal/logs has several package comments: a.go, b.go"},
		{without, without, "", "internal/logs has no package comment"},
		{without, without, with, "internal/logs has no package comment"},
	}
	for _, c := range cases {
		files := map[string]string{"internal/logs/a.go": c.a, "internal/logs/b.go": c.b}
		if c.test != "" {
			files["internal/logs/a_test.go"] = c.test
		}
		if got := strings.Join(check(t, files), "; "); got != c.fault {
			t.Errorf("got %q; want %q", got, c.fault)
		}
	}
}

func TestTopLevelFolders(t *testing.T) {
	for name, fault := range map[string]bool{
		"docs/a.md": false, "examples/a.py": false, ".ci/run": false, "bin/sluice": false, ".git/HEAD": false,
		"README.md": false, "pkg/a.md": true, "tools/a.sh": true, ".github/a.yml": true,
	} {
		if got := check(t, map[string]string{name: "text"}); (len(got) != 0) != fault {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestUnreadableSource(t *testing.T) {
	if _, err := Check(tree(map[string]string{"internal/wire/a.go": "package"})); err == nil {
		t.Error("a file that is no Go passes")
	}
}

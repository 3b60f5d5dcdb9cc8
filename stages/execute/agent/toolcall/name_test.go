package toolcall

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/wire"
)

func TestNames(t *testing.T) {
	for name, c := range map[string]struct{ wrote, function, tool string }{
		"as offered":            {"fs__read_file", "fs__read_file", "fs/read_file"},
		"as hosts name it":      {"fs/read_file", "fs__read_file", "fs/read_file"},
		"with a dot":            {"fs.read_file", "fs__read_file", "fs/read_file"},
		"other separators":      {"fs::read-file", "fs__read_file", "fs/read_file"},
		"one underscore":        {"fs_read_file", "fs__read_file", "fs/read_file"},
		"other case":            {"FS__Read_File", "fs__read_file", "fs/read_file"},
		"blanks around":         {" fs__read_file\n", "fs__read_file", "fs/read_file"},
		"quotes around":         {"\"fs__read_file\"", "fs__read_file", "fs/read_file"},
		"backticks around":      {"`fs__read_file`", "fs__read_file", "fs/read_file"},
		"prefix":                {"functions.fs__read_file", "fs__read_file", "fs/read_file"},
		"prefix and server":     {"functions.fs.read_file", "fs__read_file", "fs/read_file"},
		"prefix in other case":  {"Functions.fs__read_file", "fs__read_file", "fs/read_file"},
		"Kimi's number":         {"functions.fs__read_file:12", "fs__read_file", "fs/read_file"},
		"a leaked token behind": {"functions.fs__read_file<|channel|>commentary", "fs__read_file", "fs/read_file"},
		"without the server":    {"read_file", "fs__read_file", "fs/read_file"},
		"all at once":           {" 'functions.WEB/fetch_url' ", "web__Fetch-URL", "web/Fetch-URL"},
		"unknown":               {"delete_everything", "delete_everything", ""},
		"unknown, trimmed":      {" rm ", "rm", ""},
		"part of a name":        {"read", "read", ""},
		"longer than a name":    {"fs__read_files", "fs__read_files", ""},
		"letters missing":       {"fsread_file", "fsread_file", ""},
		"only a prefix":         {"functions.", "functions.", ""},
		"of several servers":    {"list", "", ""},
		"of several, by prefix": {"functions.list", "", ""},
		"no name":               {"", "", ""},
		"only quotes":           {"\"\"", "", ""},
		"long":                  {strings.Repeat("x", 300), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Read(Step{Calls: []wire.ToolCall{{ID: "x", Function: c.wrote}}, Tools: offered})
			if c.function == "" {
				if len(got.Calls) != 0 || len(got.Problems) != 1 {
					t.Errorf("got %s, problems %q", shown(got.Calls), got.Problems)
				}
				return
			}
			if len(got.Calls) != 1 || got.Calls[0].Function != c.function || got.Calls[0].Tool != c.tool {
				t.Fatalf("got %+v, problems %q", got.Calls, got.Problems)
			}
			if renamed := slices.Contains(got.Repaired, "function name"); renamed != (c.wrote != c.function) {
				t.Errorf("repaired is %q", got.Repaired)
			}
		})
	}
	several := Read(Step{Calls: []wire.ToolCall{{Function: "list"}}, Tools: offered}).Problems[0]
	if !strings.Contains(several, "fs__list, web__list") {
		t.Errorf("the problem doesn't name the tools: %s", several)
	}
}

// TestExactNameFirst: a name that is a tool's own never means another.
func TestExactNameFirst(t *testing.T) {
	tools := []wire.Tool{{Name: "a/LIST", Function: "a__LIST"}, {Name: "a/list", Function: "a__list"}, {Name: "b/a/list", Function: "list"}}
	for wrote, want := range map[string]string{"a__list": "a/list", "a__LIST": "a/LIST", "a/list": "a/list", "list": "b/a/list", "A__List": ""} {
		if got := resolve(wrote, tools); (got.tool == nil) != (want == "") || got.tool != nil && got.tool.Name != want {
			t.Errorf("%q means %+v", wrote, got)
		}
	}
}

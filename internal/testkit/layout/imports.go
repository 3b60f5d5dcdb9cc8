package layout

import (
	"strconv"
	"strings"
)

// rule says what a folder and everything below it may import besides the standard library and itself.
type rule struct {
	folder string
	// ours are folders of this tree, each with what is below it; "*" is every folder.
	ours []string
	// third are module paths; "*" is any.
	third []string
}

const (
	wire    = "internal/wire"
	streams = "github.com/reugn/go-streams"
	gjson   = "github.com/tidwall/gjson"
	sjson   = "github.com/tidwall/sjson"
	system  = "golang.org/x/sys"
	sqlite  = "modernc.org/sqlite"
)

// rules are the table of the architecture. Where a folder matches several, the longest holds.
var rules = []rule{
	{"cmd/sluice", []string{"*"}, []string{"*"}},
	{"pipeline", []string{"stages", wire}, []string{streams}},

	{"sources/stdin", []string{wire}, []string{streams}},
	{"sources/sse", nil, nil},
	{"sources/llama", []string{"sources/sse", wire, "internal/process", "internal/secret"}, []string{streams, gjson}},
	{"sources/gateway", []string{"sources/sse", wire}, []string{streams, "github.com/coder/websocket", gjson}},
	{"sources/demo", []string{wire}, nil},

	{"stages/parse", []string{wire}, []string{gjson, sjson}},
	{"stages/validate", []string{wire}, []string{gjson, sjson}},
	{"stages/route", []string{wire}, []string{gjson, sjson}},
	{"stages/encode", []string{wire}, []string{gjson, sjson}},
	{"stages/transform", []string{wire}, nil},
	{"stages/execute", []string{wire}, nil},
	{"stages/execute/agent", []string{wire}, nil},
	{"stages/execute/agent/toolcall", []string{wire}, []string{gjson}},
	{"stages/execute/memory", []string{wire}, []string{sqlite}},
	{"stages/execute/planner", []string{wire}, []string{"*"}},
	{"stages/execute/profile", []string{wire, "internal/filelock"}, []string{system}},
	{"stages/execute/session", []string{wire, "internal/filelock"}, []string{sqlite, system}},
	{"stages/execute/tools", []string{wire}, []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go", gjson}},

	{"sinks/stdout", []string{wire}, []string{streams, system}},

	{"internal/wire", nil, []string{gjson}},
	{"internal/bench", nil, []string{gjson, system, "github.com/HdrHistogram/hdrhistogram-go"}},
	{"internal/bench/guard", []string{"internal/bench"}, []string{"golang.org/x/perf", system}},
	{"internal/bench/report", []string{"internal/bench"}, []string{"github.com/go-analyze/charts"}},
	{"internal/config", []string{"internal/secret"}, []string{"github.com/caarlos0/env", "github.com/goccy/go-yaml"}},
	{"internal/filelock", nil, []string{system}},
	{"internal/keychain", nil, []string{"*"}},
	{"internal/logs", nil, nil},
	{"internal/observe", []string{wire}, []string{"github.com/prometheus/client_golang"}},
	{"internal/process", nil, []string{system}},
	{"internal/secret", nil, nil},
	{"internal/top", nil, []string{"charm.land", "github.com/charmbracelet/x/ansi"}},
	{"internal/testkit", []string{wire}, []string{"*"}},

	{"bench", []string{"*"}, []string{"*"}},
	{"examples", nil, nil},
}

// checkImports compares what a package imports with the rule of its folder.
func checkImports(p pack) (faults []string) {
	r, ok := ruleOf(p.folder)
	if !ok {
		return []string{p.folder + " is not in the table of who may import what"}
	}
	for _, f := range p.files {
		for _, spec := range f.syntax.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if !r.allows(name) {
				faults = append(faults, f.name+" imports "+name)
			}
		}
	}
	return faults
}

func ruleOf(folder string) (longest rule, ok bool) {
	for _, r := range rules {
		if under(folder, r.folder) && len(r.folder) > len(longest.folder) {
			longest, ok = r, true
		}
	}
	return longest, ok
}

func (r rule) allows(name string) bool {
	if folder, ours := strings.CutPrefix(name, module+"/"); ours {
		return under(folder, r.folder) || anyUnder(folder, r.ours)
	}
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".") || anyUnder(name, r.third)
}

func anyUnder(name string, roots []string) bool {
	for _, root := range roots {
		if root == "*" || under(name, root) {
			return true
		}
	}
	return false
}

// under reports whether name is root or lies below it.
func under(name, root string) bool { return name == root || strings.HasPrefix(name, root+"/") }

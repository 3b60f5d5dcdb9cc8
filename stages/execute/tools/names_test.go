package tools

import (
	"regexp"
	"strings"
	"testing"

	"sluice/internal/wire"
)

var fitName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func TestFunctionName(t *testing.T) {
	long := strings.Repeat("x", 61)
	for name, want := range map[string]string{
		"fs/read-file":    "fs__read-file",
		"a/b__c":          "a__b__c",
		"a/_b":            "a___b",
		"a__b/c":          "a__b__c_", // and a hash, as in all below
		"a_/b":            "a___b_",
		"my.server/x":     "my_server__x_",
		"a/ä b":           "a____b_",
		"s/" + long:       "s__" + long,
		"s/" + long + "y": "s__" + long[:50] + "_",
	} {
		server, tool, _ := strings.Cut(name, "/")
		got := functionName(server, tool, "")
		hashed := strings.HasSuffix(want, "_")
		if !strings.HasPrefix(got, want) || !hashed && got != want || hashed && len(got) != len(want)+hashDigits {
			t.Errorf("%s: got %s", name, got)
		}
		if !fitName.MatchString(got) || got != functionName(server, tool, "") {
			t.Errorf("%s: %s is unfit", name, got)
		}
	}
}

func TestDistinguish(t *testing.T) {
	tools := []wire.Tool{{Name: "a/x", Function: "same"}, {Name: "b/x", Function: "same"}, {Name: "c/x", Function: "same"}}
	distinguish(tools)
	if tools[0].Function != "same" || tools[1].Function == "same" || tools[2].Function == "same" || tools[1].Function == tools[2].Function {
		t.Errorf("got %+v", tools)
	}
}

func FuzzFunctionName(f *testing.F) {
	f.Add("fs", "read", "fs", "write")
	f.Add("a__b", "c", "a", "b__c")
	f.Add("a_", "b", "a", "_b")
	f.Add("a.b", "c", "a_b", "c")
	f.Add("s", strings.Repeat("x", 70)+"1", "s", strings.Repeat("x", 70)+"2")
	f.Fuzz(func(t *testing.T, server, tool, otherServer, otherTool string) {
		if strings.Contains(server+otherServer, "/") || server == "" || otherServer == "" {
			return // a server's name has none
		}
		one, other := functionName(server, tool, ""), functionName(otherServer, otherTool, "")
		if !fitName.MatchString(one) || !fitName.MatchString(other) {
			t.Errorf("%q, %q are unfit", one, other)
		}
		if same := server == otherServer && tool == otherTool; same != (one == other) {
			t.Errorf("%q and %q", one, other)
		}
	})
}

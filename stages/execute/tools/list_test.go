package tools

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

func TestListNamesTools(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("b: plain", "a: plain")})
	tools := w.list()
	if len(tools) != 6 {
		t.Fatalf("got %v", tools)
	}
	want := wire.Tool{
		Name: "a/echo", Function: "a__echo", Description: "does echo",
		Schema: `{"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}`,
	}
	if tools[0] != want {
		t.Errorf("got %+v", tools[0])
	}
	if !slices.IsSortedFunc(tools, func(a, b wire.Tool) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("not sorted: %v", tools)
	}
}

func TestListGlobs(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("files: plain", "web: plain", "broken: dies at start")})
	for globs, want := range map[string]struct{ names, warning string }{
		"files/*":         {"files/echo files/hang files/notices", ""},
		"*/echo files/e*": {"files/echo web/echo", `MCP server "broken" is not there`},
		"web/hang":        {"web/hang", ""},
		"web/hang web/h?": {"web/hang", `"web/h?" name no tool`},
		"":                {"", ""},
		"nobody/*":        {"", `"nobody/*" name no tool`},
		"broken/x":        {"", `MCP server "broken" is not there: it ended during its start (exit status 7). Its last lines:`},
	} {
		tools, warnings := w.List(t.Context(), strings.Fields(globs), nil)
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		if strings.Join(names, " ") != want.names {
			t.Errorf("%q: got %v", globs, names)
		}
		text := strings.Join(warnings, "\n")
		if (want.warning == "") != (text == "") || !strings.Contains(text, want.warning) || len(warnings) > 1 {
			t.Errorf("%q: warnings %q", globs, warnings)
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("%q: a secret in %q", globs, text)
		}
	}
	if strings.Contains(w.log.String(), "hunter2") {
		t.Error("a secret in the log")
	}
}

func TestListWithoutServers(t *testing.T) {
	w := newWorld(t, Options{})
	w.list() // the default * is no mistake
	if _, warnings := w.List(t.Context(), []string{"fs/*"}, nil); len(warnings) != 1 {
		t.Errorf("got %q", warnings)
	}
}

// Only the servers that a glob may name are started.
func TestListStartsOnlyWhatIsNamed(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("a: plain", "b: plain")})
	if _, warnings := w.List(t.Context(), []string{"a/*"}, nil); len(warnings) > 0 {
		t.Fatal(warnings)
	}
	want := []Status{{Name: "a", State: StateReady, Tools: 3}, {Name: "b", State: StateIdle}}
	if got := w.Status(); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

// A server that never answers delays a chat by the patience alone and becomes a warning, another one
// when its time is over.
func TestListLeavesTheSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := scripted("good: plain", "mute: mute", "slow: slow tools")
		for name, server := range servers {
			server.Timeout = 20 * time.Second
			servers[name] = server
		}
		w := newWorld(t, Options{Servers: servers, Spawn: spawnMemory})
		started, waited := time.Now(), 0
		tools, warnings := w.List(t.Context(), []string{"*"}, func() { waited++ })
		if took := time.Since(started); took != defaultPatience || waited != 1 || len(tools) != 3 {
			t.Errorf("took %v, waited %d times, %d tools", took, waited, len(tools))
		}
		wantIn(t, strings.Join(warnings, "\n"),
			`MCP server "mute" is still starting; its tools come with the next chat`, `MCP server "slow" is still starting`)
		started = time.Now()
		w.List(t.Context(), []string{"*"}, func() { t.Error("waits a second time") })
		if time.Since(started) != 0 {
			t.Error("a second chat waited")
		}
		time.Sleep(15*time.Second + time.Millisecond)
		synctest.Wait()
		started = time.Now()
		_, warnings = w.List(t.Context(), []string{"*"}, func() { t.Error("waits for what isn't tried") })
		if time.Since(started) != 0 {
			t.Error("it waited")
		}
		wantIn(t, strings.Join(warnings, "\n"), `MCP server "mute" is not there: it did not answer initialize within 20s`,
			`MCP server "slow" is not there: it did not answer tools/list within 20s`)
		time.Sleep(10 * time.Second) // the next List tries again
		started = time.Now()
		w.List(t.Context(), []string{"*"}, nil)
		if took := time.Since(started); took != defaultPatience/20 {
			t.Errorf("a server that has failed delayed a chat by %v", took)
		}
	})
}

// A server that doesn't start is tried again, less and less often.
func TestListTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := 0
		spawn := func(name string, server Server) (Process, error) {
			if starts++; starts < 8 {
				return nil, fmt.Errorf("no, %d", starts)
			}
			return spawnMemory(name, server)
		}
		w := newWorld(t, Options{Servers: scripted("x: plain"), Spawn: spawn})
		for i, wait := range []int{1, 2, 4, 8, 16, 30, 30} {
			_, warnings := w.List(t.Context(), []string{"*"}, nil)
			wantIn(t, strings.Join(warnings, ""), fmt.Sprintf("no, %d", i+1))
			time.Sleep(time.Duration(wait)*time.Second - 1)
			w.List(t.Context(), []string{"*"}, nil)
			if starts != i+1 {
				t.Fatalf("%d starts before the wait of %d s was over", starts, wait)
			}
			wantIn(t, w.Call(t.Context(), "x/echo", "{}").Text, fmt.Sprintf("no, %d", i+1), "(it is tried again in ")
			time.Sleep(time.Nanosecond)
		}
		w.list()
	})
}

func TestListFollowsChanges(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("x: changes")})
	if names := w.names(); slices.Contains(names, "x/grown") {
		t.Fatal(names)
	}
	w.want(wire.ToolOK, "x/grow", "{}")
	testkit.Until(t, "the tool that grew is listed", func() bool { return slices.Contains(w.names(), "x/grown") })
	if text := w.want(wire.ToolOK, "x/grown", "{}"); text != "grown" {
		t.Errorf("got %q", text)
	}
}

func TestListTakesWhatCanBeUsed(t *testing.T) {
	w := newWorld(t, Options{Servers: scripted("x: absurd")})
	schemas := map[string]string{}
	for _, tool := range w.list() {
		schemas[strings.TrimPrefix(tool.Name, "x/")] = tool.Schema
		if tool.Name == "x/twice" && tool.Description != "first" {
			t.Errorf("got the %s of two", tool.Description)
		}
	}
	for _, name := range []string{"none", "text", "array", "wrong", "large", "untyped"} {
		if schemas[name] != anyObject {
			t.Errorf("%s: %.100s", name, schemas[name])
		}
	}
	if len(schemas) != 13 {
		t.Errorf("%d tools: %v", len(schemas), schemas)
	}
	// None of these can be checked, or has anything to check: the server is asked.
	for _, name := range []string{"none", "large", "loop", "elsewhere", "lookahead"} {
		if text := w.want(wire.ToolOK, "x/"+name, `{"a":"x"}`); text != `called with {"a":"x"}` {
			t.Errorf("%s: %s", name, text)
		}
	}
	wantIn(t, w.log.String(), "another of this name", "it is too large", "it is no JSON Schema", "unprintable")
}

// TestListKnowsTheToolsOfTheDead: a server that died is started again by the next call, so no chat goes
// without its tools meanwhile, nor waits for it.
func TestListKnowsTheToolsOfTheDead(t *testing.T) {
	var starts atomic.Int32
	synctest.Test(t, func(t *testing.T) {
		spawn := func(name string, server Server) (Process, error) {
			start := starts.Add(1)
			if start > 1 {
				time.Sleep(3 * time.Second)
			}
			if start > 2 {
				return nil, fmt.Errorf("the disk has gone")
			}
			return spawnMemory(name, server)
		}
		w := newWorld(t, Options{Servers: scripted("x: dies in a call"), Spawn: spawn})
		all := len(w.list())
		for range 2 {
			w.Call(t.Context(), "x/die", "{}")
			synctest.Wait()
			began := time.Now()
			tools, warnings := w.List(t.Context(), []string{"*"}, func() { t.Error("it waits") })
			if len(tools) != all || len(warnings) > 0 || time.Since(began) != 0 {
				t.Errorf("%d tools after %v, warnings %q", len(tools), time.Since(began), warnings)
			}
			if starts.Load() == 1 {
				if result := w.Call(t.Context(), "x/echo", `{"text":"a"}`); result.Status != wire.ToolOK {
					t.Errorf("after its death it says %+v", result)
				}
			}
		}
		time.Sleep(time.Minute)
		if tools, warnings := w.List(t.Context(), []string{"*"}, nil); len(tools) > 0 || !strings.Contains(strings.Join(warnings, ""), "the disk has gone") {
			t.Errorf("%d tools of a server that can't start, warnings %q", len(tools), warnings)
		}
	})
}

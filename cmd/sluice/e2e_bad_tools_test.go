//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// wantEnd ends the engine's input, and wants it to end well and without remains of a tool server.
func wantEnd(t *testing.T, e *host.Engine, tools *toolServer) {
	t.Helper()
	e.CloseStdin()
	wantExit(t, e, 0)
	if tools != nil {
		tools.wantGone()
	}
}

func TestUnknownAgent(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "agents: [{name: writer}, {name: reader}]\n", host.Options{})
	e.Send("c", "chat", chatOf("n=1", map[string]any{"agent": "nobody"}))
	e.Error("c", "invalid_request", "nobody", "writer", "reader")
	if server.Asked("/v1/chat/completions") > 0 {
		t.Error("the model was asked")
	}
	wantEnd(t, e, nil)
}

// What is missing is a warning that names it, and the chat is answered.
func TestMissingTools(t *testing.T) {
	tests := map[string]struct {
		agent, servers string
		warnings       []string
	}{
		"a list that names nothing":     {`"nothing/*"`, "", []string{"nothing/*"}},
		"a tool that isn't there":       {`"t/absent"`, "t", []string{"t/absent"}},
		"a command that isn't there":    {`"*"`, "  x: {command: no-such-command}\n", []string{"no-such-command"}},
		"a path that isn't there":       {`"*"`, "  x: {command: ./absent}\n", []string{"absent"}},
		"a program that isn't a server": {`"*"`, "  x: {command: 'false'}\n", []string{`"x"`}},
		"an address where nobody is":    {`"*"`, "  x: {url: 'http://127.0.0.1:1/mcp'}\n", []string{`"x"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tools *toolServer
			config := toolAgent(test.agent)
			switch test.servers {
			case "":
			case "t":
				tools = newToolServer(t)
				config += "mcp_servers:\n" + tools.config("t", "", "")
			default:
				config += "mcp_servers:\n" + test.servers
			}
			e, _ := attached(t, config, host.Options{})
			e.Chat("c", "n=3")
			wantWarnings(t, wantWhole(t, e, "c", fakellama.Text("n=3")), test.warnings...)
			wantEnd(t, e, tools)
		})
	}
}

func TestBadArgumentsFromTheModel(t *testing.T) {
	const once = "[run_start llm_start llm_done llm_start llm_chunk llm_done final]"
	tests := map[string]struct {
		input, names, status string
		preview              string
		calls                []string
	}{
		"repaired":           {`call=t__note args={"text":"a",}`, strings.Replace(toolTurn, " memory_start", "", 1), "ok", "noted a", []string{"note a"}},
		"no object":          {`call=t__note args=nonsense n=2`, once, "", "", nil},
		"cut off":            {`call=t__note args={"text":"a n=2`, once, "", "", nil},
		"not of the schema":  {`call=t__big args={"count":"many"}`, strings.Replace(toolTurn, " memory_start", "", 1), "error", "schema", nil},
		"of an unknown tool": {`call=t__absent args={}`, strings.Replace(toolTurn, " memory_start", "", 1), "error", "absent", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, tools := newToolWorld(t, "")
			e := ready(t, s.start(host.Options{}))
			e.Chat("c", test.input)
			result := e.Result("c")
			if got := strings.Replace(e.Names("c"), "llm_start llm_chunk llm_done llm_start", "llm_start llm_done llm_start", 1); got != test.names {
				t.Errorf("the events are %s", got)
			}
			if result.Get("response").Str != fakellama.Text(test.input) || result.Get("finish_reason").Str != "stop" {
				t.Errorf("the result is %s", result.Raw)
			}
			wantWarnings(t, result)
			if test.status != "" {
				if done := e.Event("c", "tool_done"); done.Get("status").Str != test.status || !strings.Contains(done.Get("preview").Str, test.preview) {
					t.Errorf("it is done with %s", done.Raw)
				}
			}
			tools.wantCalls(test.calls...)
			wantEnd(t, e, tools)
		})
	}
}

func TestArgumentsThatAreBrokenForEver(t *testing.T) {
	t.Parallel()
	s, tools := newToolWorld(t, "")
	s.app = ", max_parse_errors: 2"
	e := ready(t, s.start(host.Options{}))
	say(e, "c", "u", "s", "call=t__note args=nonsense again=9")
	result := e.Result("c")
	if got := e.Event("c", "loop_abort"); got.Get("reason").Str != "parse_errors" || got.Get("step").Int() != 2 {
		t.Errorf("it is aborted with %s", got.Raw)
	}
	if result.Get("finish_reason").Str != "aborted" || result.Get("steps").Int() != 3 {
		t.Errorf("the result is %s", result.Raw)
	}
	wantWarnings(t, result, "can't be read in 3 steps")
	tools.wantCalls()
	if turns := s.turns("u", "s"); len(turns) != 1 || turns[0].Get("status").Str != "aborted" {
		t.Errorf("stored are %s", turns)
	}
	wantEnd(t, e, tools)
}

// A result of 50 MB is whole in the session and cut for the model, and the engine doesn't keep it.
func TestToolThatWritesMuch(t *testing.T) {
	t.Parallel()
	const size = 50 << 20
	s, tools := newToolWorld(t, "")
	e := ready(t, s.start(host.Options{}))
	for _, id := range []string{"c0", "c1"} {
		say(e, id, "u", id, fmt.Sprintf(`call=t__big args={"count":%d}`, size))
		wantWarnings(t, e.Result(id))
		if done := e.Event(id, "tool_done"); done.Get("status").Str != "ok" || len(done.Get("preview").Str) != 200 {
			t.Errorf("it is done with %s", done.Raw)
		}
		answers := s.WaitAnswers(1)
		messages := answers[len(answers)-1].Messages()
		if last := messages[len(messages)-1]; last.Role != "tool" || len(last.Content) > 65<<10 || !strings.Contains(last.Content, "cut") {
			t.Errorf("the model was sent a result of %d bytes, which ends with %q", len(last.Content), last.Content[max(0, len(last.Content)-200):])
		}
		if text := s.turns("u", id)[0].Get("steps.0.calls.0.result.text").Str; len(text) != size {
			t.Errorf("stored are %d bytes", len(text))
		}
	}
	if mib := residentMiB(t, e.PID()); mib > 800 {
		t.Errorf("the engine holds %d MiB", mib)
	} else {
		t.Logf("the engine holds %d MiB", mib)
	}
	wantEnd(t, e, tools)
}

func TestToolThatHangs(t *testing.T) {
	t.Parallel()
	s, tools := newToolWorld(t, "requires_approval: false, timeout: 5s")
	e := ready(t, s.start(host.Options{}))
	e.Chat("c", holdCall+noteCall)
	if got := e.Result("c").Get("response").Str; got != fakellama.Text("") {
		t.Errorf("the response is %q", got)
	}
	var statuses []string
	for _, m := range e.Events("c") {
		if m.Get("event").Str == "tool_done" {
			statuses = append(statuses, m.Get("status").Str)
		}
	}
	if fmt.Sprint(statuses) != "[timeout ok]" {
		t.Errorf("the calls are done with %v", statuses)
	}
	tools.wantCalls("hold b", "note a")
	wantEnd(t, e, tools)
}

// TestToolThatIgnoresItsEnd: the engine ends in time however it is ended, and nothing is left.
func TestToolThatIgnoresItsEnd(t *testing.T) {
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := newToolServer(t)
			e, _ := attached(t, toolAgent(`"t/*"`)+"mcp_servers:\n"+tools.config("t", habitStubborn, ""), host.Options{})
			ready(t, e)
			e.Chat("c", holdCall)
			tools.wantCalls("hold b")
			c.end(t, e)
			wantExit(t, e, c.status)
			tools.wantGone()
		})
	}
}

func TestToolThatFloodsStderr(t *testing.T) {
	for _, level := range []string{"info", "debug"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			tools := newToolServer(t)
			e, _ := attached(t, "log: {level: "+level+"}\n"+toolAgent(`"t/*"`)+"mcp_servers:\n"+tools.config("t", habitNoisy, ""), host.Options{Stderr: host.Unread})
			ready(t, e)
			e.Chat("c", noteCall)
			wantWhole(t, e, "c", fakellama.Text(""))
			tools.wantCalls("note a")
			wantEnd(t, e, tools)
		})
	}
}

// A tool that is away for good, or fails for ever, ends the turn and says so.
func TestToolThatFailsForEver(t *testing.T) {
	t.Parallel()
	s, tools := newToolWorld(t, "")
	e := ready(t, s.start(host.Options{}))
	e.Chat("c", `call=t__tell args={"text":"x"} again=9`)
	result := e.Result("c")
	if got := e.Event("c", "loop_abort").Get("reason"); got.Str != "tool_failures" || got.Type != gjson.String {
		t.Errorf("it is aborted because of %s", got.Raw)
	}
	if result.Get("finish_reason").Str != "aborted" {
		t.Errorf("the result is %s", result.Raw)
	}
	wantWarnings(t, result, "t/tell")
	wantEnd(t, e, tools)
}

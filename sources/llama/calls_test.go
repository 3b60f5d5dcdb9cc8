package llama

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"

	"sluice/internal/wire"
)

// deltas reads deltas as one stream and returns the pieces of calls in them.
func deltas(t *testing.T, list ...string) []wire.CallDelta {
	t.Helper()
	var chunks []string
	for _, d := range list {
		chunks = append(chunks, rendered(d, "null", 1, ""))
	}
	_, _, tokens := texts(t, &chunkParser{}, chunks...)
	return tokens.Calls
}

func TestCallPieces(t *testing.T) {
	piece := func(index int, id, function, arguments string) wire.CallDelta {
		return wire.CallDelta{Index: index, ID: id, Function: function, Arguments: arguments}
	}
	type pieces = []wire.CallDelta
	for name, c := range map[string]struct {
		deltas []string
		want   pieces
	}{
		"as llama-server sends it": {[]string{
			`{"role":"assistant","content":null}`,
			`{"tool_calls":[{"index":0,"id":"3CPR","type":"function","function":{"name":"get_weather","arguments":"{"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"\n\n\""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"é\u00e9}"}}]}`,
		}, pieces{piece(0, "3CPR", "get_weather", "{"), piece(0, "", "", "\n\n\""), piece(0, "", "", "éé}")}},
		"two calls after text": {[]string{
			`{"content":"Let me look."}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"g"}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":"{"}},{"index":0,"function":{"arguments":" "}}]}`,
		}, pieces{piece(0, "a", "f", "{}"), piece(1, "b", "g", ""), piece(1, "", "", "{"), piece(0, "", "", " ")}},
		"an object as arguments":   {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x": [1]}}}]}`}, pieces{piece(0, "a", "f", `{"x": [1]}`)}},
		"null as arguments":        {[]string{`{"tool_calls":[{"index":0,"id":null,"function":{"name":"f","arguments":null}}]}`}, pieces{piece(0, "", "f", "")}},
		"one call, not in a list":  {[]string{`{"tool_calls":{"id":"a","function":{"name":"f","arguments":"{}"}}}`}, pieces{piece(0, "a", "f", "{}")}},
		"index missing, ids":       {[]string{`{"tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"f"}}]}`, `{"tool_calls":[{"id":"a","function":{"arguments":"{}"}}]}`}, pieces{piece(0, "a", "f", ""), piece(1, "b", "f", ""), piece(0, "a", "", "{}")}},
		"index and ids missing":    {[]string{`{"tool_calls":[{"function":{"name":"f"}},{"function":{"name":"f"}}]}`, `{"tool_calls":[{"function":{"arguments":"{}"}}]}`}, pieces{piece(0, "", "f", ""), piece(1, "", "f", ""), piece(1, "", "", "{}")}},
		"one index for all calls":  {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}`, `{"tool_calls":[{"index":0,"id":"b","function":{"name":"g"}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`}, pieces{piece(0, "a", "f", ""), piece(1, "b", "g", ""), piece(1, "", "", "{}")}},
		"one id for all calls":     {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"a","function":{"name":"g"}}]}`}, pieces{piece(0, "a", "f", ""), piece(1, "a", "g", "")}},
		"the id comes later":       {[]string{`{"tool_calls":[{"index":0,"function":{"name":"f"}}]}`, `{"tool_calls":[{"index":0,"id":"a"}]}`, `{"tool_calls":[{"index":0,"id":"b"}]}`}, pieces{piece(0, "", "f", ""), piece(0, "a", "", ""), piece(1, "b", "", "")}},
		"an index without a begin": {[]string{`{"tool_calls":[{"index":7,"function":{"arguments":"x"}}]}`, `{"tool_calls":[{"index":7,"function":{"arguments":"y"}}]}`}, pieces{piece(0, "", "", "x"), piece(0, "", "", "y")}},
		"a nonsensical index":      {[]string{`{"tool_calls":[{"index":-1,"id":"a"}]}`, `{"tool_calls":[{"index":"0","id":"b"}]}`}, pieces{piece(0, "a", "", ""), piece(1, "b", "", "")}},
		"function_call":            {[]string{`{"function_call":{"name":"f","arguments":"{"}}`, `{"function_call":{"arguments":"}"}}`}, pieces{piece(0, "", "f", "{"), piece(0, "", "", "}")}},
		"both forms":               {[]string{`{"function_call":{"name":"f","arguments":"{}"},"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`}, pieces{piece(0, "a", "f", "{}")}},
		"no calls":                 {[]string{`{"tool_calls":null}`, `{"tool_calls":[]}`, `{"tool_calls":[null,5,"x"]}`, `{"tool_calls":"x","function_call":null}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := deltas(t, c.deltas...); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestCallsAreBounded begins more calls than are told apart.
func TestCallsAreBounded(t *testing.T) {
	var p chunkParser
	for i := range 3 * mostCalls {
		_, _, tokens := texts(t, &p, rendered(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"%d"}]}`, i, i), "null", 1, ""))
		if got := tokens.Calls[0].Index; got != min(i, mostCalls) {
			t.Fatalf("call %d is number %d", i, got)
		}
	}
	if len(p.calls.begun) != mostCalls {
		t.Errorf("%d calls are remembered", len(p.calls.begun))
	}
}

// TestACallBesideTextIsNoTemplate: the second chunk begins and ends as the first, which has a call.
func TestACallBesideTextIsNoTemplate(t *testing.T) {
	both := func(text string) string {
		return fmt.Sprintf(`{"content":%q,"tool_calls":[{"index":0,"function":{"arguments":"x"}}]}`, text)
	}
	if got := deltas(t, both("a"), both("b")); len(got) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestStreamReadsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		var calls []wire.CallDelta
		m := newMemory()
		m.route("/v1/chat/completions", sent(
			event(roleOnly), event(content(`"Let me look."`)),
			event(rendered(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`, "null", 1, "")),
			event(rendered(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`, "null", 1, ""))[:90],
			event(rendered(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`, "null", 1, ""))[90:],
			event(rendered(`{}`, `"tool_calls"`, 1, ""))+event("[DONE]")))
		s, closeBoth := m.attach(t, ServerOptions{})
		defer closeBoth()
		lease := acquire(t, s)
		defer lease.Release()
		stream := lease.Stream("", &wire.ModelRequest{})
		stream.next = c
		c.pushed = func() { calls = append(calls, stream.tokens.Calls...) }
		if err := stream.Run(t.Context()); err != nil || c.text.String() != "Let me look." || c.finish != "tool_calls" {
			t.Errorf("%v, text %q, finish %q", err, c.text.String(), c.finish)
		}
		if want := []wire.CallDelta{{ID: "a", Function: "f", Arguments: "{"}, {Arguments: "}"}}; !reflect.DeepEqual(calls, want) {
			t.Errorf("calls %+v", calls)
		}
	})
}

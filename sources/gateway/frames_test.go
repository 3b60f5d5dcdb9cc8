package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name, data, want string
		kind             frameKind
	}{
		{"", `{"type":"data","content":"a\n\u00e9é"}`, `a\n\u00e9é`, frameText},
		{"message", ` { "content" : "a" , "type" : "data" } `, `a`, frameText},
		{"", `{"type":"data","content":null}`, ``, frameText},
		{"", `{"type":"data"}`, ``, frameText},
		{"", `{"type":"data","content":5}`, `5`, frameText},
		{"", `{"type":"data","content":{"a":"b"}}`, `{\"a\":\"b\"}`, frameText},
		{"", `{"type":"summary","data":{"outputs":["a","\"b",null,3]}}`, `{"kind":"summary","text":"a\"b3","data":{"outputs":["a","\"b",null,3]}}`, frameEvent},
		{"", `{"type":"summary","data":{"outputs":"x"}}`, `{"kind":"summary","text":"","data":{"outputs":"x"}}`, frameEvent},
		{"", `{"type":"summary","data":null}`, `{"kind":"summary","text":"","data":{}}`, frameEvent},
		{"", `{"type":"summary"}`, `{"kind":"summary","text":"","data":{}}`, frameEvent},
		{"", `{"type":"end","x":1}`, `{"kind":"end"}`, frameEnd},
		{"", `{"type":"error","detail":"a","error":"b"}`, `{"kind":"error","detail":"a"}`, frameEvent},
		{"", `{"type":"error","detail":null,"error":"b"}`, `{"kind":"error","detail":"b"}`, frameEvent},
		{"", `{"type":"error","detail":"","error":{"m":"b"}}`, `{"kind":"error","detail":"{\"m\":\"b\"}"}`, frameEvent},
		{"", `{"type":"error"}`, `{"kind":"error","detail":"unknown error"}`, frameEvent},
		{"", `{"type":"tool_start","tool_name":"calc","tool_input":{"x_y":1},"indicator":"i"}`,
			`{"kind":"tool","event":{"eventType":"tool_start","toolName":"calc","toolInput":{"x_y":1},"indicator":"i"}}`, frameEvent},
		{"", `{"type":"tool_call"}`, `{"kind":"tool","event":{"eventType":"tool_call"}}`, frameEvent},
		{"", `{"type":"tool_result","event_type":"e"}`, `{"kind":"tool","event":{"eventType":"e"}}`, frameEvent},
		{"", `{"type":"tool_error","event_type":null}`, `{"kind":"tool","event":{"eventType":"tool_error"}}`, frameEvent},
		{"tool", `{}`, `{"kind":"tool","event":{"eventType":"tool"}}`, frameEvent},
		{"tool", `{"event_type":"tool_result","tool_name":"n","tool_input":null,"result":[{"a_b":1}],"result_length":5,"error":"e","citations":[{"file_name":"f"}],` +
			`"run_id":"r","indicator":{"a_b":2},"duration_ms":17.5,"timestamp":"t","other":1}`,
			`{"kind":"tool","event":{"eventType":"tool_result","toolName":"n","toolInput":null,"result":[{"a_b":1}],"resultLength":5,"error":"e","citations":[{"file_name":"f"}],` +
				`"runId":"r","indicator":{"a_b":2},"durationMs":17.5,"timestamp":"t"}}`, frameEvent},
		{"node_status", `{"node_id":"n","status":"running","label":"L"}`, `{"kind":"node_status","event":{"nodeId":"n","node_id":"n","status":"running","label":"L"}}`, frameEvent},
		{"node_status", ` {"nodeId":"m","node_id":"n"} `, `{"kind":"node_status","event":{"nodeId":"m","node_id":"n"} }`, frameEvent},
		{"node_status", `{}`, `{"kind":"node_status","event":{}}`, frameEvent},
		{"log", `{"a":1}`, `{"kind":"log","data":{"a":1}}`, frameEvent},
		{"log", `[1]`, `{"kind":"log","data":[1]}`, frameEvent},
		{"log", `5`, `{"kind":"log","data":"5"}`, frameEvent},
		{"log", `"x"`, `{"kind":"log","data":"\"x\""}`, frameEvent},
		{"log", "a \"b\"\n\xff", `{"kind":"log","data":"a \"b\"\n` + "\ufffd" + `"}`, frameEvent},
		{"log", ``, `{"kind":"log","data":""}`, frameEvent},
		{"execution_io", `{"execution_io_id":512}`, `{"kind":"execution_io","executionIoId":512}`, frameEvent},
		{"execution_io", `{"execution_io_id":"a"}`, `{"kind":"execution_io","executionIoId":"a"}`, frameEvent},
		{"execution_io", `{"execution_io_id":null}`, ``, frameIgnored},
		{"execution_io", `[]`, ``, frameIgnored},
		{"download_artifact", `{"file_name":"r"}`, `{"kind":"download","data":{"file_name":"r"}}`, frameEvent},
		{"a2ui_command", `{"op":1}`, `{"kind":"ui_command","surface":"a2ui","command":{"op":1}}`, frameEvent},
		{"floui_command", `{"op":1}`, `{"kind":"ui_command","surface":"floui","command":{"op":1}}`, frameEvent},
		{"quota_warning", `{"used":1}`, `{"kind":"quota","level":"warning","data":{"used":1}}`, frameEvent},
		{"quota_exceeded", `{"used":1}`, `{"kind":"quota","level":"exceeded","data":{"used":1}}`, frameEvent},
		{"execution_suspended", `whatever`, suspended, frameEvent},
		{"", `{"type":"mystery"}`, ``, frameIgnored},
		{"", `{"type":7}`, ``, frameIgnored},
		{"", `{"content":"x"}`, ``, frameIgnored},
		{"", `"data"`, ``, frameIgnored},
		{"", `{"type":"data","content":"x"`, ``, frameIgnored},
		{"", `[DONE]`, ``, frameIgnored},
		{"", ``, ``, frameIgnored},
		{"data", `{"type":"data","content":"x"}`, ``, frameIgnored},
		{"end", `{"type":"end"}`, ``, frameIgnored},
		{"telemetry", `{"x":1}`, ``, frameIgnored},
		{"tool", `no JSON`, ``, frameIgnored},
		{"quota_warning", `[]`, ``, frameIgnored},
		{"download_artifact", `"x"`, ``, frameIgnored},
	} {
		got, kind := appendFrame([]byte("before"), c.name, []byte(c.data))
		if string(got) != "before"+c.want || kind != c.kind {
			t.Errorf("%s %s\ngot  %d %s\nwant %d %s", c.name, c.data, kind, got[6:], c.kind, c.want)
		}
		if (kind == frameEvent || kind == frameEnd) && !json.Valid(got[6:]) {
			t.Errorf("%s %s became no JSON: %s", c.name, c.data, got[6:])
		}
	}
}

// TestDeepFrames: an event is never nested deeper than what the encoder takes.
func TestDeepFrames(t *testing.T) {
	for depth := wire.MaxDepth - 3; depth <= wire.MaxDepth+1; depth++ {
		data := strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
		for _, name := range []string{"node_status", "download_artifact", "log"} {
			got, kind := appendFrame(nil, name, []byte(data))
			switch {
			case kind == frameIgnored && len(got) > 0 || kind == frameEvent && string(wire.AppendObject(nil, string(got), false)) == "{}":
				t.Errorf("%s of depth %d became %d of %d bytes", name, depth, kind, len(got))
			case depth < wire.MaxDepth && kind == frameIgnored:
				t.Errorf("%s of depth %d is ignored", name, depth)
			}
		}
	}
}

// FuzzFrame: whatever comes, a text is the inside of a JSON string and an event a JSON object with a
// kind, and texts and kinds are what an independent reading of the frame says.
func FuzzFrame(f *testing.F) {
	for _, name := range []string{"", "message", "tool", "log", "node_status", "execution_io", "quota_warning", "execution_suspended", "other"} {
		for _, data := range []string{
			`{"type":"data","content":"a\u00e9"}`, `{"type":"summary","data":{"outputs":["a"]}}`, `{"type":"error","detail":7}`, `{"type":"end"}`,
			`{"event_type":"x","tool_input":{"a":[1]}}`, `{"node_id":1,"status":""}`, `{"execution_io_id":512}`, "text", "\xff", "[]", "{",
		} {
			f.Add(name, []byte(data))
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		got, kind := appendFrame(nil, name, data)
		switch kind {
		case frameIgnored:
			if len(got) > 0 {
				t.Fatalf("an ignored frame appended %q", got)
			}
		case frameText:
			if quoted := `"` + string(got) + `"`; !gjson.Valid(quoted) || gjson.Parse(quoted).Raw != quoted {
				t.Fatalf("the text is %q", got)
			}
		default:
			event, ok := objectIn(string(got))
			if !ok || event.Get("kind").Type != gjson.String {
				t.Fatalf("the event is %q", got)
			}
			if string(wire.AppendObject(nil, string(got), true)) == "{}" {
				t.Fatalf("the encoder doesn't take %q", got)
			}
		}
		checkKind(t, name, data, got, kind)
	})
}

// checkKind reads a default frame with the standard library.
func checkKind(t *testing.T, name string, data, got []byte, kind frameKind) {
	if name != "" && name != "message" || !json.Valid(data) || hasTwins(data) {
		return
	}
	var frame map[string]any
	if json.Unmarshal(data, &frame) != nil || frame == nil {
		if kind != frameIgnored {
			t.Fatalf("%q is no object but became %d", data, kind)
		}
		return
	}
	want := map[any]frameKind{
		"data": frameText, "summary": frameEvent, "error": frameEvent, "end": frameEnd,
		"tool_call": frameEvent, "tool_start": frameEvent, "tool_result": frameEvent, "tool_error": frameEvent,
	}
	typed, _ := frame["type"].(string)
	if kind != want[typed] && !wire.TooDeep([]byte(string(data)+"[[")) {
		t.Fatalf("%q became %d", data, kind)
	}
	if content, ok := frame["content"].(string); ok && kind == frameText {
		var text string
		if err := json.Unmarshal([]byte(`"`+string(got)+`"`), &text); err != nil || text != content {
			t.Fatalf("%q: text %q, want %q", data, text, content)
		}
	}
}

// hasTwins reports whether an object has a member twice, which readers take differently.
func hasTwins(data []byte) bool {
	seen, twins := map[string]bool{}, false
	gjson.ParseBytes(data).ForEach(func(name, _ gjson.Result) bool {
		twins = twins || seen[name.String()]
		seen[name.String()] = true
		return true
	})
	return twins
}

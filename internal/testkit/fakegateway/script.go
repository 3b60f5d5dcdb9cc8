package fakegateway

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// script is what one stream does, read from the words of the chat's input; others are ignored. They are
// those of the acceptance cases' gateway, and some more (the last group).
//
//	n=20       texts; rate=100 a second, 0 as fast as possible
//	tok=ab     each text; uni=1 and nel=1 are texts of characters that need care
//	die=5      break the connection after so many texts; hang=5 falls silent; err=5 sends an error
//	end=0      end without a frame end; tail=3 sends texts behind it; nosep=1 leaves out its empty line
//	status=503 answer this status, with msg=word as its detail
//	frag=1     byte by byte; crlf=1, multi=1 (several data lines), beat=1 (comments)
//	tool=1 baretool=1 node=1 log=1 file=1 ui=1 quota=1 junk=1 io=512 summary=1 suspended=1
//	           other frames, the last three behind the texts
//	html=1     a web page; json=1 a JSON object instead of a stream; mute=1 no answer at all
//	big=5000000 a text of so many bytes in front of the others
//	bad=1      frames that are no JSON, or not what they should be, between the texts
//	spaces=1   JSON with a space behind colons and commas; ascii=1 with escapes for other characters
type script map[string]string

func parseScript(input gjson.Result) script {
	s := script{}
	for word := range strings.FieldsSeq(words(input)) {
		if name, value, ok := strings.Cut(word, "="); ok {
			s[name] = value
		}
	}
	return s
}

// words is the text of an input: a string, or the strings in content blocks.
func words(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.String()
	}
	var texts []string
	v.ForEach(func(_, item gjson.Result) bool {
		texts = append(texts, words(item))
		return true
	})
	return strings.Join(texts, " ")
}

func (s script) has(name string) bool { return s[name] != "" }

// number is a word's value; missing, where it isn't there.
func (s script) number(name string, missing int) int { return number(s[name], missing) }

// rest is the pause before each text.
func (s script) rest() time.Duration {
	if rate := s.number("rate", 0); rate > 0 {
		return time.Second / time.Duration(rate)
	}
	return 0
}

// frame is one frame of a stream; name is empty for a default one.
type frame struct {
	name string
	data any // text is sent as it is, all else as JSON
}

// before are the frames in front of the texts.
func (s script) before() (list []frame) {
	add := func(word string, frames ...frame) {
		if s.has(word) {
			list = append(list, frames...)
		}
	}
	add("junk", frame{"telemetry", Object{"x": 1}}, frame{"", "this is no JSON"}, frame{"", Object{"type": "mystery", "content": "no"}}, frame{"", Object{"content": "no type"}})
	add("node", frame{"node_status", Object{"node_id": "agent", "status": "running", "label": "Agent node"}})
	add("log", frame{"log", Object{"level": "INFO", "message": "step one"}}, frame{"log", "plain text line"})
	add("tool",
		frame{"tool", Object{"event_type": "tool_call", "tool_name": "lookup", "tool_input": Object{"q_q": "pipes"}, "run_id": "run-1"}},
		frame{"tool", Object{"event_type": "tool_result", "tool_name": "lookup", "result": "found", "result_length": 5, "duration_ms": 17,
			"run_id": "run-1", "citations": []Object{{"file_name": "guide.pdf"}}, "timestamp": "2026-07-01T00:00:00"}},
		frame{"tool", Object{"event_type": "tool_error", "tool_name": "lookup", "error": "boom"}})
	add("baretool", frame{"", Object{"type": "tool_start", "tool_name": "calc", "tool_input": Object{"x": 1}, "indicator": "calculating"}})
	add("file", frame{"download_artifact", Object{"file_name": "report.xlsx", "size": 10}})
	add("ui", frame{"a2ui_command", Object{"op": "render"}}, frame{"floui_command", Object{"op": "open"}})
	add("quota", frame{"quota_warning", Object{"used": 90}}, frame{"quota_exceeded", Object{"used": 101}})
	if s.has("big") {
		list = append(list, text(strings.Repeat("x", s.number("big", 0))))
	}
	return list
}

// behind are the frames between the texts and the end.
func (s script) behind() (list []frame) {
	if s.has("io") {
		list = append(list, frame{"execution_io", Object{"execution_io_id": s.number("io", 0)}})
	}
	if s.has("summary") {
		list = append(list, frame{"", Object{"type": "summary", "data": Object{"outputs": []string{"sum", "mary"}, "tokens": 5}}})
	}
	if s.has("suspended") {
		list = append(list, frame{"execution_suspended", Object{"reason": "admin"}})
	}
	return list
}

// bad are frames that a stream survives.
var bad = []frame{
	{"", `{"type":"data","content":"cut`}, {"", "[1,2]"}, {"", "5"}, {"", "null"}, {"", `{"type":7}`}, {"", "{}"},
	{"tool", "no JSON"}, {"tool", `"text"`}, {"node_status", "[]"}, {"execution_io", "{}"}, {"download_artifact", "x"},
	{"a2ui_command", "3"}, {"quota_warning", ""}, {"data", Object{"type": "data", "content": "no"}}, {"end", Object{"type": "end"}},
}

func text(content string) frame { return frame{"", textData{"data", content}} }

// textData is a frame of text, its members in the gateway's order.
type textData struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

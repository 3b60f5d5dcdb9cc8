package gateway

import (
	"strings"

	"github.com/tidwall/gjson"
)

// toolMembers are the members of a tool's event, as the gateway and as chat/event name them. What is
// inside their values stays as it is.
var toolMembers = []struct{ in, out string }{
	{"tool_name", "toolName"}, {"tool_input", "toolInput"}, {"result", "result"}, {"result_length", "resultLength"},
	{"error", "error"}, {"citations", "citations"}, {"run_id", "runId"}, {"indicator", "indicator"},
	{"duration_ms", "durationMs"}, {"timestamp", "timestamp"},
}

// appendTool appends the event of a tool; members that the frame doesn't have are left out.
func appendTool(dst []byte, frame gjson.Result) []byte {
	dst = append(dst, `{"kind":"tool","event":{"eventType":"`...)
	dst = append(dst, eventType(frame)...)
	dst = append(dst, '"')
	for _, member := range toolMembers {
		if v := frame.Get(member.in); v.Exists() {
			dst = append(append(append(dst, `,"`...), member.out...), `":`...)
			dst = append(dst, v.Raw...)
		}
	}
	return append(dst, `}}`...)
}

// eventType is the inside of a JSON string: the frame's event_type, else its type, else tool.
func eventType(frame gjson.Result) string {
	for _, name := range []string{"event_type", "type"} {
		if v := frame.Get(name); v.Type == gjson.String && len(v.Raw) > 2 {
			return v.Raw[1 : len(v.Raw)-1]
		}
	}
	return "tool"
}

// appendNodeStatus appends the event of a node: all members of the frame, and nodeId in front.
func appendNodeStatus(dst []byte, frame gjson.Result) []byte {
	dst = append(dst, `{"kind":"node_status","event":{`...)
	members := strings.TrimLeft(frame.Raw, " \t\r\n")[1:]
	if id := frame.Get("node_id"); id.Exists() && !frame.Get("nodeId").Exists() {
		dst = append(append(append(dst, `"nodeId":`...), id.Raw...), ',')
	}
	return append(append(dst, members...), '}')
}

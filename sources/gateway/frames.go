package gateway

import (
	"unsafe"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// frameKind says what a frame of the stream means.
type frameKind uint8

const (
	frameIgnored frameKind = iota
	frameText              // the inside of a JSON string
	frameEvent             // a JSON object
	frameEnd               // a JSON object that ends the stream
)

// suspended is what a frame execution_suspended says, whatever is in it.
const suspended = `{"kind":"error","detail":"the run was suspended by an administrator; ask them before starting it again"}`

// appendFrame appends what one frame of the stream means, by the table of the gateway's contract: the
// text of a frame of text, else the event of chat/event. A frame that means nothing appends nothing. name
// is the frame's event field.
func appendFrame(dst []byte, name string, data []byte) ([]byte, frameKind) {
	from := len(dst)
	dst, kind := appendMeaning(dst, name, stringOf(data))
	if kind == frameEvent && wire.TooDeep(dst[from:]) {
		return dst[:from], frameIgnored
	}
	return dst, kind
}

func appendMeaning(dst []byte, name, data string) ([]byte, frameKind) {
	switch name {
	case "log":
		return appendLog(dst, data), frameEvent
	case "execution_suspended":
		return append(dst, suspended...), frameEvent
	}
	frame, ok := objectIn(data)
	if !ok {
		return dst, frameIgnored
	}
	switch name {
	case "", "message":
		return appendDefault(dst, frame)
	case "tool":
		return appendTool(dst, frame), frameEvent
	case "node_status":
		return appendNodeStatus(dst, frame), frameEvent
	case "execution_io":
		return appendExecutionIO(dst, frame)
	}
	for _, w := range wrapped {
		if w.name == name {
			return append(append(append(dst, w.head...), frame.Raw...), '}'), frameEvent
		}
	}
	return dst, frameIgnored
}

// wrapped are the named frames whose object goes into the event as it is.
var wrapped = []struct{ name, head string }{
	{"download_artifact", `{"kind":"download","data":`},
	{"a2ui_command", `{"kind":"ui_command","surface":"a2ui","command":`},
	{"floui_command", `{"kind":"ui_command","surface":"floui","command":`},
	{"quota_warning", `{"kind":"quota","level":"warning","data":`},
	{"quota_exceeded", `{"kind":"quota","level":"exceeded","data":`},
}

// appendDefault reads a frame without a name, which its type tells.
func appendDefault(dst []byte, frame gjson.Result) ([]byte, frameKind) {
	kind := frame.Get("type")
	if kind.Type != gjson.String {
		return dst, frameIgnored
	}
	switch kind.String() {
	case "data":
		return appendText(dst, frame.Get("content")), frameText
	case "summary":
		return appendSummary(dst, frame.Get("data")), frameEvent
	case "end":
		return append(dst, `{"kind":"end"}`...), frameEnd
	case "error":
		return appendError(dst, frame), frameEvent
	case "tool_call", "tool_start", "tool_result", "tool_error":
		return appendTool(dst, frame), frameEvent
	}
	return dst, frameIgnored
}

// appendText appends a JSON value as the inside of a JSON string: a string as it stood, nothing for
// null, else the value's JSON.
func appendText(dst []byte, v gjson.Result) []byte {
	switch v.Type {
	case gjson.String:
		return append(dst, v.Raw[1:len(v.Raw)-1]...)
	case gjson.Null:
		return dst
	}
	return wire.AppendText(dst, v.Raw, false)
}

func appendSummary(dst []byte, data gjson.Result) []byte {
	dst = append(dst, `{"kind":"summary","text":"`...)
	if outputs := data.Get("outputs"); outputs.IsArray() {
		outputs.ForEach(func(_, output gjson.Result) bool {
			dst = appendText(dst, output)
			return true
		})
	}
	dst = append(dst, `","data":`...)
	if !data.IsObject() {
		return append(dst, `{}}`...)
	}
	return append(append(dst, data.Raw...), '}')
}

func appendError(dst []byte, frame gjson.Result) []byte {
	dst = append(dst, `{"kind":"error","detail":"`...)
	from := len(dst)
	for _, name := range []string{"detail", "error"} {
		if dst = appendText(dst, frame.Get(name)); len(dst) > from {
			return append(dst, `"}`...)
		}
	}
	return append(dst, `unknown error"}`...)
}

// appendLog keeps what isn't JSON, or no object or array, as the text that it was.
func appendLog(dst []byte, data string) []byte {
	dst = append(dst, `{"kind":"log","data":`...)
	value := gjson.Result{}
	if !wire.TooDeep(bytesOf(data)) && gjson.Valid(data) {
		value = gjson.Parse(data)
	}
	if value.IsObject() || value.IsArray() {
		dst = append(dst, value.Raw...)
	} else {
		dst = wire.AppendString(dst, data, false)
	}
	return append(dst, '}')
}

func appendExecutionIO(dst []byte, frame gjson.Result) ([]byte, frameKind) {
	id := frame.Get("execution_io_id")
	if id.Type == gjson.Null {
		return dst, frameIgnored
	}
	dst = append(dst, `{"kind":"execution_io","executionIoId":`...)
	return append(append(dst, id.Raw...), '}'), frameEvent
}

// stringOf and bytesOf view memory as the other type; what is viewed must not change meanwhile.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
func bytesOf(s string) []byte  { return unsafe.Slice(unsafe.StringData(s), len(s)) }

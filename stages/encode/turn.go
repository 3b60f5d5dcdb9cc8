package encode

import (
	"math"
	"strconv"
	"time"

	"sluice/internal/wire"
)

// detail appends what only one kind of event tells. A tool's arguments are sent whole, however long:
// cut, they would be no object any more, and a person can't approve of what isn't shown.
func (e *Events) detail(dst []byte, detail any) []byte {
	switch d := detail.(type) {
	case *wire.RunStart:
		dst = e.text(dst, `,"user_input":`, d.UserInput)
		dst = e.text(dst, `,"trace_id":`, d.TraceID)
	case *wire.ToolStart:
		dst = e.text(dst, `,"tool":`, d.Tool)
		dst = e.args(dst, d.Args)
		dst = e.callID(dst, d.CallID)
	case *wire.ToolDone:
		dst = e.toolDone(dst, d)
	case *wire.ToolApproval:
		dst = e.text(dst, `,"call_id":`, d.CallID)
		dst = e.text(dst, `,"tool":`, d.Tool)
		dst = e.args(dst, d.Args)
		dst = duration(dst, `,"expires_ms":`, d.Expires)
	case *wire.LoopAbort:
		dst = e.text(dst, `,"reason":`, string(d.Reason))
	case *wire.Progress:
		dst = e.text(dst, `,"stage":`, string(d.Stage))
		dst = fraction(append(dst, `,"fraction":`...), d.Fraction)
		dst = e.text(dst, `,"detail":`, d.Detail)
	}
	return dst
}

func (e *Events) toolDone(dst []byte, d *wire.ToolDone) []byte {
	dst = e.text(dst, `,"tool":`, d.Tool)
	dst = e.text(dst, `,"status":`, string(d.Status))
	dst = e.text(dst, `,"preview":`, d.Preview)
	dst = wire.AppendBool(append(dst, `,"retryable":`...), d.Retryable)
	dst = duration(dst, `,"ms":`, d.Took)
	return e.callID(dst, d.CallID)
}

func (e *Events) args(dst []byte, args string) []byte {
	return wire.AppendObject(append(dst, `,"args":`...), args, e.protocol.ASCII)
}

// callID appends the member that only a host sees that can be asked for approvals.
func (e *Events) callID(dst []byte, id string) []byte {
	if id == "" {
		return dst
	}
	return e.text(dst, `,"call_id":`, id)
}

func (e *Events) text(dst []byte, name, value string) []byte {
	return wire.AppendString(append(dst, name...), value, e.protocol.ASCII)
}

func duration(dst []byte, name string, d time.Duration) []byte {
	return milliseconds(append(dst, name...), d)
}

// fraction appends a number from 0 to 1 with at most three decimals, or null for what isn't known.
func fraction(dst []byte, f float64) []byte {
	if !(f >= 0) { // not a number either
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, math.Round(min(f, 1)*1000)/1000, 'f', -1, 64)
}

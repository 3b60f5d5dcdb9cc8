package encode

import (
	"time"

	"sluice/internal/wire"
)

// AppendReply appends the line that ends a request, with its newline.
func (p NDJSON) AppendReply(dst []byte, id wire.ID, reply wire.Reply, d wire.Delivery) []byte {
	switch r := reply.(type) {
	case *wire.Fault:
		return append(p.fault(dst, id, r), "}\n"...)
	case *wire.ChatDone:
		return p.chat(dst, id, r, d)
	}
	dst = p.result(dst, id)
	switch r := reply.(type) {
	case *wire.Pong, *wire.ShutdownDone:
		dst = append(dst, `{"status":"ok"}`...)
	case *wire.Initialized:
		dst = p.initialized(dst, r)
	case *wire.CancelDone:
		dst = p.cancelDone(dst, r)
	case *wire.ApproveDone:
		dst = wire.AppendBool(append(dst, `{"accepted":`...), r.Accepted)
		dst = append(dst, '}')
	case *wire.WarmupDone:
		dst = append(dst, `{"status":"ok","load_ms":`...)
		dst = append(milliseconds(dst, r.Load), '}')
	case *wire.Stats:
		dst = p.stats(dst, r)
	case *wire.Document:
		dst = wire.AppendObject(dst, string(r.JSON), p.ASCII)
	default:
		dst = append(dst, "null"...)
	}
	return append(dst, "}\n"...)
}

// result appends the line up to the result's value.
func (p NDJSON) result(dst []byte, id wire.ID) []byte {
	dst = append(dst, `{"id":`...)
	dst = wire.AppendID(dst, id, p.ASCII)
	return append(dst, `,"type":"result","result":`...)
}

// fault appends an error line without its closing brace.
func (p NDJSON) fault(dst []byte, id wire.ID, f *wire.Fault) []byte {
	dst = append(dst, `{"id":`...)
	dst = wire.AppendID(dst, id, p.ASCII)
	dst = append(dst, `,"type":"error","code":"`...)
	dst = append(dst, f.Code...)
	dst = append(dst, `","message":`...)
	return wire.AppendString(dst, f.Message, p.ASCII)
}

func (p NDJSON) initialized(dst []byte, r *wire.Initialized) []byte {
	dst = append(dst, `{"protocol_version":`...)
	dst = wire.AppendInt(dst, r.ProtocolVersion)
	dst = append(dst, `,"server":{"name":"sluice","version":`...)
	dst = wire.AppendString(dst, r.ServerVersion, p.ASCII)
	dst = append(dst, `},"capabilities":{"parallel_chat":true,"max_parallel_chats":`...)
	dst = wire.AppendInt(dst, int64(r.MaxParallelChats))
	dst = append(dst, `,"targeted_cancel":true,"lossless_chunks":`...)
	dst = wire.AppendBool(dst, r.Lossless)
	dst = append(dst, `,"extensions":`...)
	return append(p.strings(dst, r.Extensions), "}}"...)
}

func (p NDJSON) cancelDone(dst []byte, r *wire.CancelDone) []byte {
	dst = append(dst, `{"cancelled":`...)
	dst = wire.AppendBool(dst, r.Cancelled)
	dst = append(dst, `,"request_id":`...)
	return append(wire.AppendID(dst, r.Target, p.ASCII), '}')
}

// chat appends a chat's result, or its error with what the chat had as data.
func (p NDJSON) chat(dst []byte, id wire.ID, r *wire.ChatDone, d wire.Delivery) []byte {
	if r.Fault == nil {
		return append(p.chatResult(p.result(dst, id), r, d), "}\n"...)
	}
	dst = append(p.fault(dst, id, r.Fault), `,"data":`...)
	return append(p.chatData(dst, r, d), "}\n"...)
}

// chatData appends what a chat had that ended in an error: a host that didn't choose its session can
// resume it by what stands here.
func (p NDJSON) chatData(dst []byte, r *wire.ChatDone, d wire.Delivery) []byte {
	dst = append(dst, `{"response":"`...)
	dst = append(append(dst, r.Response...), '"')
	dst = usage(dst, r.Usage)
	dst = events(dst, d)
	if r.Fault.Code == wire.CodeCancelled {
		dst = stop(dst, r.Stop)
	}
	dst = p.whose(dst, r, d)
	dst = append(dst, `,"steps":`...)
	return append(wire.AppendInt(dst, int64(r.Steps)), '}')
}

// whose appends which turn it was, and its warnings.
func (p NDJSON) whose(dst []byte, r *wire.ChatDone, d wire.Delivery) []byte {
	dst = wire.AppendString(append(dst, `,"session_id":`...), r.SessionID, p.ASCII)
	dst = wire.AppendString(append(dst, `,"trace_id":`...), r.TraceID, p.ASCII)
	return p.strings(append(dst, `,"warnings":`...), withDrops(r.Warnings, d))
}

func (p NDJSON) chatResult(dst []byte, r *wire.ChatDone, d wire.Delivery) []byte {
	dst = append(dst, `{"response":"`...)
	dst = append(append(dst, r.Response...), '"')
	dst = p.whose(dst, r, d)
	dst = usage(dst, r.Usage)
	dst = p.timings(dst, r)
	dst = events(dst, d)
	dst = append(dst, `,"finish_reason":`...)
	dst = wire.AppendString(dst, r.FinishReason, p.ASCII)
	dst = append(dst, `,"steps":`...)
	return append(wire.AppendInt(dst, int64(r.Steps)), '}')
}

// withDrops adds the warning that tells of dropped events.
func withDrops(warnings []string, d wire.Delivery) []string {
	if d.Dropped == 0 {
		return warnings
	}
	text := string(wire.AppendInt(nil, d.Dropped)) + " events were dropped because stdout was read too slowly; " +
		"the response has all the text. Read faster, or set output.on_full: coalesce and a larger output.pending_bytes."
	return append(warnings[:len(warnings):len(warnings)], text)
}

func usage(dst []byte, u *wire.Usage) []byte {
	if u == nil {
		return append(dst, `,"usage":null`...)
	}
	dst = append(dst, `,"usage":{"prompt_tokens":`...)
	dst = wire.AppendInt(dst, u.PromptTokens)
	dst = append(dst, `,"completion_tokens":`...)
	return append(wire.AppendInt(dst, u.CompletionTokens), '}')
}

func events(dst []byte, d wire.Delivery) []byte {
	dst = append(dst, `,"events":{"sent":`...)
	dst = wire.AppendInt(dst, d.Sent)
	dst = append(dst, `,"merged":`...)
	dst = wire.AppendInt(dst, d.Merged)
	dst = append(dst, `,"dropped":`...)
	return append(wire.AppendInt(dst, d.Dropped), '}')
}

func (p NDJSON) timings(dst []byte, r *wire.ChatDone) []byte {
	t := r.Timings()
	dst = append(dst, `,"timings":{"queue_ms":`...)
	dst = milliseconds(dst, t.Queue)
	dst = append(milliseconds(append(dst, `,"load_ms":`...), t.Load), `,"plan_ms":`...)
	dst = append(milliseconds(dst, t.Plan), `,"ttft_ms":`...)
	dst = append(milliseconds(dst, t.TTFT), `,"total_ms":`...)
	dst = append(milliseconds(dst, t.Total), `,"upstream_ms":`...)
	dst = append(milliseconds(dst, t.Upstream), `,"tool_ms":`...)
	dst = append(milliseconds(dst, t.Tool), `,"engine_ms":`...)
	dst = append(milliseconds(dst, t.Engine), `,"reader_ms":`...)
	return append(milliseconds(dst, t.Reader), '}')
}

func stop(dst []byte, d time.Duration) []byte {
	dst = append(dst, `,"stop_ms":`...)
	if d < 0 {
		return append(dst, "null"...)
	}
	return milliseconds(dst, d)
}

// milliseconds appends d in whole milliseconds.
func milliseconds(dst []byte, d time.Duration) []byte {
	return wire.AppendInt(dst, d.Milliseconds())
}

func (p NDJSON) strings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = wire.AppendString(dst, s, p.ASCII)
	}
	return append(dst, ']')
}

package encode

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"sluice/internal/wire"
)

// golden compares a line, without its newline, and holds every line to what hosts rely on.
func golden(t *testing.T, got []byte, want string) {
	t.Helper()
	line, whole := bytes.CutSuffix(got, []byte{'\n'})
	if !whole || !json.Valid(line) || !utf8.Valid(line) || bytes.ContainsAny(line, "\r\n\u0085\u2028\u2029") {
		t.Errorf("this is no line: %q", got)
	}
	if string(line) != want {
		t.Errorf("got\n%s\nwant\n%s", line, want)
	}
}

func timings() wire.Timings {
	const ms = time.Millisecond
	return wire.Timings{Queue: ms, Load: 2 * ms, Plan: 9 * ms, TTFT: 3 * ms, Total: 4*ms + 999*time.Microsecond, Upstream: 5 * ms, Tool: 6 * ms, Engine: 7 * ms, Reader: 8 * ms}
}

const someTimings = `{"queue_ms":1,"load_ms":2,"plan_ms":9,"ttft_ms":3,"total_ms":4,"upstream_ms":5,"tool_ms":6,"engine_ms":7,"reader_ms":8}`

func chatDone() *wire.ChatDone {
	return &wire.ChatDone{
		Response: []byte(`a\"\u2028é`), SessionID: "s1", TraceID: "t\n1", Warnings: []string{},
		Usage: &wire.Usage{PromptTokens: 5, CompletionTokens: 7}, Timings: timings, FinishReason: "stop", Steps: 1, Stop: -1,
	}
}

func failed(code wire.Code, stop time.Duration) *wire.ChatDone {
	done := chatDone()
	done.Fault, done.Usage, done.Stop = wire.NewFault(code, "say \"why\""), nil, stop
	return done
}

func warned() *wire.ChatDone {
	done := chatDone()
	done.Warnings = make([]string, 1, 8)
	done.Warnings[0] = "w1"
	done.Usage, done.FinishReason = nil, ""
	return done
}

func failedAndWarned() *wire.ChatDone {
	done := warned()
	done.Fault = wire.NewFault(wire.CodeInternal, "why")
	return done
}

func TestReplies(t *testing.T) {
	for name, c := range map[string]struct {
		id    wire.ID
		reply wire.Reply
		d     wire.Delivery
		want  string
	}{
		"pong":         {`1`, &wire.Pong{}, wire.Delivery{}, `{"id":1,"type":"result","result":{"status":"ok"}}`},
		"id kept":      {`"\u00e9é\/"`, &wire.Pong{}, wire.Delivery{}, `{"id":"\u00e9é\/","type":"result","result":{"status":"ok"}}`},
		"id escaped":   {"\"\u2028\u2029\u0085\"", &wire.Pong{}, wire.Delivery{}, `{"id":"\u2028\u2029\u0085","type":"result","result":{"status":"ok"}}`},
		"big id":       {`9007199254740993`, &wire.ShutdownDone{}, wire.Delivery{}, `{"id":9007199254740993,"type":"result","result":{"status":"ok"}}`},
		"fault":        {``, wire.NewFault(wire.CodeInvalidJSON, "a\n\"b\"\xff"), wire.Delivery{}, `{"id":null,"type":"error","code":"invalid_json","message":"a\n\"b\"` + "\ufffd" + `"}`},
		"initialized":  {`1.0`, &wire.Initialized{ProtocolVersion: 1, ServerVersion: "v1", MaxParallelChats: 16, Lossless: true, Extensions: []string{"offsets", "reasoning"}}, wire.Delivery{}, `{"id":1.0,"type":"result","result":{"protocol_version":1,"server":{"name":"sluice","version":"v1"},"capabilities":{"parallel_chat":true,"max_parallel_chats":16,"targeted_cancel":true,"lossless_chunks":true,"extensions":["offsets","reasoning"]}}}`},
		"cancelled":    {`1`, &wire.CancelDone{Cancelled: true, Target: "\"é\u2028\""}, wire.Delivery{}, `{"id":1,"type":"result","result":{"cancelled":true,"request_id":"é\u2028"}}`},
		"nothing":      {`1`, &wire.CancelDone{}, wire.Delivery{}, `{"id":1,"type":"result","result":{"cancelled":false,"request_id":null}}`},
		"document":     {`1`, &wire.Document{JSON: []byte("{ \"a\" : \"\u0085\u2028é\\u003c\",\n\t\"b\": [1, 2.50 ] }\n")}, wire.Delivery{}, `{"id":1,"type":"result","result":{"a":"\u0085\u2028é<","b":[1,2.50]}}`},
		"no document":  {`1`, &wire.Document{JSON: []byte("[]")}, wire.Delivery{}, `{"id":1,"type":"result","result":{}}`},
		"warm":         {`1`, &wire.WarmupDone{Load: 1500 * time.Millisecond}, wire.Delivery{}, `{"id":1,"type":"result","result":{"status":"ok","load_ms":1500}}`},
		"approved":     {`1`, &wire.ApproveDone{Accepted: true}, wire.Delivery{}, `{"id":1,"type":"result","result":{"accepted":true}}`},
		"too late":     {`1`, &wire.ApproveDone{}, wire.Delivery{}, `{"id":1,"type":"result","result":{"accepted":false}}`},
		"unknown kind": {`1`, 7, wire.Delivery{}, `{"id":1,"type":"result","result":null}`},
		"chat": {`1`, chatDone(), wire.Delivery{Sent: 5, Merged: 2}, `{"id":1,"type":"result","result":{"response":"a\"\u2028é","session_id":"s1","trace_id":"t\n1","warnings":[],` +
			`"usage":{"prompt_tokens":5,"completion_tokens":7},"timings":` + someTimings + `,"events":{"sent":5,"merged":2,"dropped":0},"finish_reason":"stop","steps":1}}`},
		"chat with drops": {`1`, warned(), wire.Delivery{Sent: 5, Dropped: 3}, `{"id":1,"type":"result","result":{"response":"a\"\u2028é","session_id":"s1","trace_id":"t\n1",` +
			`"warnings":["w1","3 events were dropped because stdout was read too slowly; the response has all the text. Read faster, or set output.on_full: coalesce and a larger output.pending_bytes."],` +
			`"usage":null,"timings":` + someTimings + `,"events":{"sent":5,"merged":0,"dropped":3},"finish_reason":"","steps":1}}`},
		"chat that failed": {`1`, failed(wire.CodeInternal, -1), wire.Delivery{Sent: 5}, `{"id":1,"type":"error","code":"internal_error","message":"say \"why\"",` +
			`"data":{"response":"a\"\u2028é","usage":null,"events":{"sent":5,"merged":0,"dropped":0},"session_id":"s1","trace_id":"t\n1","warnings":[],"steps":1}}`},
		"chat that was cancelled": {`1`, failed(wire.CodeCancelled, 12*time.Millisecond), wire.Delivery{}, `{"id":1,"type":"error","code":"cancelled","message":"say \"why\"",` +
			`"data":{"response":"a\"\u2028é","usage":null,"events":{"sent":0,"merged":0,"dropped":0},"stop_ms":12,"session_id":"s1","trace_id":"t\n1","warnings":[],"steps":1}}`},
		"chat that was cancelled and not seen idle": {`1`, failed(wire.CodeCancelled, -1), wire.Delivery{}, `{"id":1,"type":"error","code":"cancelled","message":"say \"why\"",` +
			`"data":{"response":"a\"\u2028é","usage":null,"events":{"sent":0,"merged":0,"dropped":0},"stop_ms":null,"session_id":"s1","trace_id":"t\n1","warnings":[],"steps":1}}`},
		"chat that failed with warnings": {`1`, failedAndWarned(), wire.Delivery{Sent: 5, Dropped: 1}, `{"id":1,"type":"error","code":"internal_error","message":"why",` +
			`"data":{"response":"a\"\u2028é","usage":null,"events":{"sent":5,"merged":0,"dropped":1},"session_id":"s1","trace_id":"t\n1",` +
			`"warnings":["w1","1 events were dropped because stdout was read too slowly; the response has all the text. Read faster, or set output.on_full: coalesce and a larger output.pending_bytes."],"steps":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, NDJSON{}.AppendReply(nil, c.id, c.reply, c.d), c.want)
			if done, ok := c.reply.(*wire.ChatDone); ok && len(done.Warnings) > 0 && done.Warnings[:2][1] != "" {
				t.Error("the warnings of the reply were written to")
			}
		})
	}
}

func TestRepliesAppend(t *testing.T) {
	line := NDJSON{}.AppendReply([]byte("before\n"), `1`, &wire.Pong{}, wire.Delivery{})
	if !bytes.HasPrefix(line, []byte("before\n{")) {
		t.Errorf("got %q", line)
	}
}

func TestStats(t *testing.T) {
	const s = time.Second
	stats := &wire.Stats{
		Uptime: s, Queue: wire.QueueStats{Frames: 1, Bytes: 2, MaxFrames: 3, MaxBytes: 4}, Written: wire.WrittenStats{Frames: 5, Bytes: 6, Batches: 7},
		Merged: 8, Dropped: 9, StallReader: wire.StallStats{Count: 10, Time: s}, StallUpstream: wire.StallStats{Count: 11, Time: s}, StallEngine: wire.StallStats{Count: 12, Time: s},
		Stages: []wire.StageStats{{Name: "parse", Count: 13, Busy: s}, {Name: "é"}},
		Chats:  []wire.ChatStats{{ID: `"é"`, State: "running", Since: s, Tokens: 14}, {ID: "2.0", State: "waiting"}},
	}
	want := `{"id":1,"type":"result","result":{"uptime_ms":1000,"queue":{"frames":1,"bytes":2,"max_frames":3,"max_bytes":4},"written":{"frames":5,"bytes":6,"batches":7},"merged":8,"dropped":9,` +
		`"stalls":{"reader":{"count":10,"ms":1000},"upstream":{"count":11,"ms":1000},"engine":{"count":12,"ms":1000}},"stages":[{"name":"parse","count":13,"busy_ms":1000},{"name":"\u00e9","count":0,"busy_ms":0}],` +
		`"chats":[{"id":"\u00e9","state":"running","since_ms":1000,"tokens":14},{"id":2.0,"state":"waiting","since_ms":0,"tokens":0}]}}`
	golden(t, NDJSON{ASCII: true}.AppendReply(nil, "1", stats, wire.Delivery{}), want)
	golden(t, NDJSON{}.AppendReply(nil, "1", &wire.Stats{}, wire.Delivery{}), `{"id":1,"type":"result","result":{"uptime_ms":0,"queue":{"frames":0,"bytes":0,"max_frames":0,"max_bytes":0},`+
		`"written":{"frames":0,"bytes":0,"batches":0},"merged":0,"dropped":0,"stalls":{"reader":{"count":0,"ms":0},"upstream":{"count":0,"ms":0},"engine":{"count":0,"ms":0}},"stages":[],"chats":[]}}`)
}

func TestASCII(t *testing.T) {
	done := chatDone()
	done.Response, done.SessionID = []byte(`\u00e9`), "é😀"
	done.Warnings = []string{"ü"}
	for _, reply := range []wire.Reply{
		done, wire.NewFault(wire.CodeInvalidRequest, "é😀\xff"), &wire.CancelDone{Target: `"é"`}, &wire.Initialized{ServerVersion: "é", Extensions: []string{"ö"}},
	} {
		line := NDJSON{ASCII: true}.AppendReply(nil, "\"é😀\u2028\"", reply, wire.Delivery{})
		if i := bytes.IndexFunc(line, func(r rune) bool { return r >= 0x7f }); i >= 0 || !json.Valid(line) {
			t.Errorf("beyond ASCII at %d: %s", i, line)
		}
		if !bytes.HasPrefix(line, []byte(`{"id":"\u00e9\ud83d\ude00\u2028",`)) {
			t.Errorf("the id is not escaped: %s", line)
		}
	}
}

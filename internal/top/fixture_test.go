package top

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// counters are the JSON of /stats in tests; what is not given is that of an idle engine.
type counters map[string]any

func (c counters) json() []byte {
	all := counters{
		"uptime_ms": 60_000, "pid": 4711, "version": "0.1.0",
		"queue":   counters{"frames": 0, "bytes": 0, "max_frames": 0, "max_bytes": 0},
		"bounds":  counters{"pending_bytes": 64 << 20, "guaranteed_bytes": 64 << 20, "queue_frames": 0},
		"written": counters{"frames": 0, "bytes": 0, "batches": 0},
		"merged":  0, "dropped": 0, "stages": []any{}, "chats": []any{}, "recent_stalls": []any{},
		"stalls": counters{"reader": stalled(0, 0), "upstream": stalled(0, 0), "engine": stalled(0, 0)},
	}
	for name, value := range c {
		all[name] = value
	}
	text, _ := json.Marshal(all)
	return text
}

func (c counters) snapshot(t *testing.T) *Snapshot {
	t.Helper()
	s, err := ParseSnapshot(c.json())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stalled(count, ms int) counters { return counters{"count": count, "ms": ms} }

func chat(id any, state string, since, tokens int) counters {
	return counters{"id": id, "state": state, "since_ms": since, "tokens": tokens}
}

// stages are those of an engine after n tokens, each in a chunk of its own.
func stages(n int) (list []any) {
	for i, name := range []string{"parse", "validate", "route", "execute", "source", "transform", "encode"} {
		list = append(list, counters{"name": name, "count": n / (i%3 + 1), "busy_ms": n * (i + 1) / 500})
	}
	return list
}

func recent(n int) (list []any) {
	for i := range n {
		at := time.Date(2026, 3, 1, 14, 0, 2*i, 0, time.UTC).Format(time.RFC3339Nano)
		list = append(list, counters{"cause": Causes[i%3], "ms": 300 + 1700*i, "at": at, "request": i, "queue_bytes": i << 20})
	}
	return list
}

// idle is an engine that nobody asked anything yet.
func idle() (before, after counters) {
	return counters{"stages": stages(0)}, counters{"stages": stages(0), "uptime_ms": 61_000}
}

// busy is an engine whose reader is slow, a second apart.
func busy() (before, after counters) {
	before = counters{
		"stages": stages(100_000), "chats": []any{chat(7, "running", 9_000, 4_000), chat("chat-2", "running", 4_000, 900)},
		"written": counters{"frames": 1_230_000, "bytes": 150 << 20, "batches": 14_000}, "merged": 45_301, "dropped": 0,
	}
	after = counters{
		"uptime_ms": 61_000, "stages": stages(104_321), "merged": 46_504, "dropped": 2,
		"chats":   []any{chat(7, "running", 10_000, 4_512), chat("chat-2", "running", 5_000, 1_000), chat("7", "queued", 400, 0)},
		"queue":   counters{"frames": 1_204, "bytes": 34 << 20, "max_frames": 2_310, "max_bytes": 51 << 20},
		"written": counters{"frames": 1_242_340, "bytes": 152 << 20, "batches": 14_145},
		"stalls":  counters{"reader": stalled(12, 8_250), "upstream": stalled(1, 3_000), "engine": stalled(0, 0)}, "recent_stalls": recent(6),
	}
	before["stalls"] = counters{"reader": stalled(11, 7_500), "upstream": stalled(1, 3_000), "engine": stalled(0, 0)}
	return before, after
}

// crowd is an engine with a hundred chats.
func crowd() (before, after counters) {
	before, after = busy()
	chats := func(seconds int) (list []any) {
		for i := range 100 {
			list = append(list, chat(fmt.Sprintf("window-%d/chat-%d", i%4, i), "running", seconds*1000+i*10, (seconds+1)*(i+1)*7))
		}
		return list
	}
	before["chats"], after["chats"] = chats(2), chats(3)
	return before, after
}

// hostile is an engine whose host chose ids to harm a terminal, or a layout.
func hostile() (before, after counters) {
	before, after = busy()
	after["version"] = "9.9\x1b[31m\n9"
	after["chats"] = []any{
		chat(strings.Repeat("very-long-", 300)+"end", "running", 1, 1_234_567_890),
		chat("a\x1b[2J\x1b]0;title\x07b\r\n\t\u0085c\u2028d\u202ee", "run\x1b[1mning", 100*3_600_000, 3),
		chat("漢字とかな漢字とかな漢字とかな漢字とかな", "queued", 61_000, 0),
		chat("été 👩‍💻 e\u0301", "starting", 3_600_000, 12),
		chat("", "running", 0, 0),
	}
	after["recent_stalls"] = []any{counters{"cause": "rea\x1bder", "ms": 1.5, "at": "2026-03-01T14:00:00.5+02:00", "request": "\x07\u009b31m" + strings.Repeat("x", 99), "queue_bytes": -1}, counters{"cause": "engine", "ms": 2, "request": nil}}
	return before, after
}

package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

// TestASCII sends nothing beyond ASCII, whoever wrote it: the host's id and input, the model, ourselves.
func TestASCII(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{}, func(o *Options) { o.Protocol = NDJSON(testLineBytes, true) })
		e.send(`{"id":"é","method":"chat","params":{"input":"é+😀 ü","session_id":"ß"}}`, `{"id":"ö","method":"dänce"}`)
		_ = e.in.Close()
		lines := e.end(EndOfInput)
		for _, line := range lines {
			if i := strings.IndexFunc(line, func(r rune) bool { return r > unicode.MaxASCII }); i >= 0 {
				t.Errorf("beyond ASCII at %d: %s", i, line)
			}
		}
		if count(lines, `"response":"\u00e9\ud83d\ude00\u00fc"`) != 2 || count(lines, `"delta":"\u00e9\ud83d\ude00"`) != 1 {
			t.Errorf("%s", lines)
		}
	})
}

func TestFinals(t *testing.T) {
	var f finals
	<-f.allTaken()
	f.add()
	f.add()
	taken := f.allTaken()
	f.take()
	select {
	case <-taken:
		t.Error("one is still waiting")
	default:
	}
	f.take()
	<-taken
}

// lane is a sink's lane that takes a while, forgets what it took and may refuse it.
type lane struct {
	Lane
	slow   time.Duration
	refuse error
	frames int
}

func (l *lane) Push(context.Context, any) error {
	time.Sleep(l.slow)
	return l.refuse
}

func (l *lane) Put(wire.Frame) error {
	l.frames++
	return l.refuse
}

func TestRepliesAllocateNothing(t *testing.T) {
	p := &Pipeline{options: Options{Protocol: NDJSON(0, false)}}
	l := &lane{}
	p.replies.lane = l
	pong := &wire.Pong{}
	if n := testing.AllocsPerRun(100, func() { p.Reply(`"ping-1"`, pong) }); n != 0 || l.frames == 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestLongRepliesAreForgotten: one long id doesn't hold its memory for ever.
func TestLongRepliesAreForgotten(t *testing.T) {
	p := &Pipeline{options: Options{Protocol: NDJSON(0, false)}}
	p.replies.lane = &lane{}
	p.Reply(wire.ID(`"`+strings.Repeat("x", 1<<20)+`"`), &wire.Pong{})
	if n := cap(p.replies.line); n > keptLine {
		t.Errorf("%d bytes are kept", n)
	}
}

// TestEngineStalls are pauses that we cause ourselves.
func TestEngineStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStalls(time.Second)
		tap := &tap{apply: func(*wire.Tokens) *wire.Events { return &wire.Events{Items: make([]wire.Event, 1)} }, tokens: func(int64) {}, stalls: s}
		l := &lane{refuse: errors.New("no")}
		step := stepSink{l, tap}
		for _, l.slow = range []time.Duration{0, time.Second - 1, 3 * time.Second} {
			tap.observe(&wire.Tokens{Items: make([]wire.Token, 1)})
			if err := step.Push(context.Background(), nil); !errors.Is(err, l.refuse) {
				t.Errorf("got %v", err)
			}
			time.Sleep(time.Second - 1)
		}
		time.Sleep(time.Minute)
		l.slow = 0
		_ = step.Push(context.Background(), nil) // what a stage kept until the end
		upstream, engine := s.stats()
		if engine != (wire.StallStats{Count: 1, Time: 3 * time.Second}) {
			t.Errorf("engine: %+v", engine)
		}
		if upstream.Count != 0 {
			t.Errorf("upstream: %+v", upstream)
		}
	})
}

package pipeline

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/testkit"
	"sluice/sinks/stdout"
)

// near allows for the interval at which the sink looks for progress.
func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got < want || got > want+200*time.Millisecond {
		t.Errorf("%s took %v; want %v", what, got, want)
	}
}

// count tells how many lines have a part.
func count(lines []string, part string) (n int) {
	for _, line := range lines {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

const (
	hang = `{"id":1,"method":"chat","params":{"input":"a HANG"}}`
	long = `{"id":1,"method":"chat","params":{"input":"a b c d e f g h i j"}}`
)

func TestSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{}, nil)
		e.send(hang, `{"id":2,"method":"chat","params":{"input":"HANG"}}`, `{"id":3,"method":"chat"}`, `{"id":4,"method":"warmup"}`)
		time.Sleep(5 * time.Second)
		e.cancel()
		lines := e.end(Signal)
		if e.err != nil || count(lines, `"code":"cancelled"`) != 3 || count(lines, `"load_ms":1000}`) != 1 || count(lines, `"delta":"a"`) != 1 {
			t.Errorf("%v: %s", e.err, lines)
		}
		near(t, "the end", e.took, 5*time.Second+closeTime)
	})
}

// TestSignalDuringTheLastChats comes when the input has ended already.
func TestSignalDuringTheLastChats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{}, nil)
		e.send(hang)
		_ = e.in.Close()
		time.Sleep(5 * time.Second)
		e.cancel()
		if lines := e.end(Signal); e.err != nil || count(lines, `"code":"cancelled"`) != 1 {
			t.Errorf("%v: %s", e.err, lines)
		}
	})
}

// TestSignalDuringTheDrain shortens the patience with a stalled reader.
func TestSignalDuringTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{Paused: true}, nil)
		e.send(`{"id":1,"method":"ping"}`)
		_ = e.in.Close()
		time.Sleep(5 * time.Second)
		e.cancel()
		<-e.ended
		if !errors.Is(e.err, stdout.ErrGivenUp) || e.reason != EndOfInput {
			t.Errorf("%q, %v", e.reason, e.err)
		}
		near(t, "the end", e.took, 5*time.Second+testShutdownTimeout)
	})
}

// TestEndOfInputWaits: everything that runs or waits finishes, the last line counts without a newline.
func TestEndOfInputWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{}, nil)
		_, _ = io.WriteString(e.in, strings.Repeat(long+"\n", 1)+`{"id":2,"method":"chat","params":{"input":"a"}}`+"\r\n\n"+`{"id":3,"method":"chat","params":{"input":"a"}}`)
		_ = e.in.Close()
		lines := e.end(EndOfInput)
		if e.err != nil || count(lines, `"type":"result"`) != 3 || count(lines, `"response":"abcdefghij"`) != 2 {
			t.Errorf("%v: %s", e.err, lines)
		}
		near(t, "the end", e.took, 11*time.Second)
	})
}

// TestDrainPatience gives a stalled reader up only when it took nothing for the whole patience.
func TestDrainPatience(t *testing.T) {
	for name, c := range map[string]struct {
		interval time.Duration // at which the reader takes a byte
		bytes    int
		took     time.Duration
	}{
		"a reader that stands still":    {testEOFTimeout, 0, testEOFTimeout},
		"a reader that takes a little":  {20 * time.Second, 3, 60*time.Second + testEOFTimeout},
		"a reader that takes all of it": {20 * time.Second, len(`{"id":1,"type":"result","result":{"status":"ok"}}`) + 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(t, testkit.Pace{Paused: true, Chunk: 1}, nil)
				e.send(`{"id":1,"method":"ping"}`)
				_ = e.in.Close()
				for range c.bytes {
					time.Sleep(c.interval)
					e.out.Allow(1)
					synctest.Wait()
				}
				<-e.ended
				if (e.err != nil) != (c.took > 0) || e.err != nil && !errors.Is(e.err, stdout.ErrGivenUp) || e.reason != EndOfInput {
					t.Errorf("%q, %v", e.reason, e.err)
				}
				if c.took > 0 {
					near(t, "the end", e.took, c.took)
				}
			})
		})
	}
}

// TestShutdownOfAStalledReader: the finals and the answer wait for it, but not for long.
func TestShutdownOfAStalledReader(t *testing.T) {
	for _, resumed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := newEngine(t, testkit.Pace{Paused: true}, nil)
			e.send(long)
			time.Sleep(5 * time.Second)
			e.send(`{"id":2,"method":"shutdown"}`)
			if resumed {
				time.Sleep(testShutdownTimeout / 2)
				e.out.Resume()
			}
			lines := e.end(Shutdown)
			if !resumed {
				if !errors.Is(e.err, stdout.ErrGivenUp) {
					t.Errorf("got %v", e.err)
				}
				near(t, "the end", e.took, 5*time.Second+closeTime+testShutdownTimeout)
				return
			}
			n := len(lines)
			if e.err != nil || n < 5 || !strings.Contains(lines[n-2], `"code":"cancelled"`) || lines[n-1] != `{"id":2,"type":"result","result":{"status":"ok"}}` {
				t.Errorf("%v: %s", e.err, strings.Join(lines, "\n"))
			}
		})
	}
}

// TestModelsStopInTime: the end waits for the servers, up to a bound.
func TestModelsStopInTime(t *testing.T) {
	for stop, want := range map[time.Duration]time.Duration{3 * time.Second: 3 * time.Second, time.Hour: closeTimeout} {
		synctest.Test(t, func(t *testing.T) {
			e := newEngine(t, testkit.Pace{}, nil)
			e.models.close = func(ctx context.Context) error { return pause(ctx, stop) }
			_ = e.in.Close()
			e.end(EndOfInput)
			near(t, "the end", e.took, want)
		})
	}
}

// TestModelsThatCannotEnd: a killed process may hang in the kernel; the engine ends nevertheless.
func TestModelsThatCannotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		defer close(hangs)
		e := newEngine(t, testkit.Pace{}, nil)
		e.models.close = func(context.Context) error { <-hangs; return nil }
		_ = e.in.Close()
		e.end(EndOfInput)
		near(t, "the end", e.took, closeTimeout+killTimeout)
	})
}

// TestRefusals: what is refused is told at once, and what was accepted before it is untouched.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{}, nil)
		chat := func(id string) string { return `{"id":` + id + `,"method":"chat","params":{"input":"a"}}` }
		e.send(chat("1"), chat("2"), chat("3"), chat("4"), chat("5"), chat("1"), chat(`"1"`), `{"id":6,"method":"cancel"}`, strings.Repeat("x", testLineBytes+1), `{"id":7,"method":"ping"}`)
		_ = e.in.Close()
		lines := e.end(EndOfInput)
		for part, n := range map[string]int{
			`{"id":5,"type":"error","code":"overloaded"`: 1, `{"id":"1","type":"error","code":"overloaded"`: 1, `{"id":1,"type":"error","code":"invalid_request"`: 1,
			`{"id":6,"type":"error","code":"invalid_request"`: 1, `{"id":null,"type":"error","code":"invalid_request"`: 1, `{"id":7,"type":"result"`: 1,
			`"type":"result","result":{"response":"a"`: 4, `"type":"error"`: 5,
		} {
			if got := count(lines, part); got != n {
				t.Errorf("%d times %s", got, part)
			}
		}
	})
}

// TestRequestsBeforeTheFirstRead: a host that writes much before it reads loses no answer.
func TestRequestsBeforeTheFirstRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{Paused: true}, nil)
		const n = 500
		e.send(slices.Repeat([]string{`{"id":1,"method":"ping"}`}, n)...)
		e.send(long)
		time.Sleep(time.Minute)
		e.out.Resume()
		_ = e.in.Close()
		if lines := e.end(EndOfInput); count(lines, `{"status":"ok"}`) != n || count(lines, `"response":"abcdefghij"`) != 2 {
			t.Errorf("%d lines", len(lines))
		}
	})
}

// gatedSink holds every chat back, as one does whose reader owes us room.
type gatedSink struct{ sinkPort }

func (gatedSink) Gate(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func (gatedSink) Open() bool { return false }

func (gatedSink) Stuck(ctx context.Context, patience time.Duration) bool {
	return pause(ctx, patience) == nil
}

// TestEndOfInputDoesNotWaitForeverAtTheGate: chats that wait for a reader that takes nothing any more
// would never begin, so the engine ends them after its patience.
func TestEndOfInputDoesNotWaitForeverAtTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{}, func(o *Options) { o.Sink = gatedSink{o.Sink.(sinkPort)} })
		e.send(long)
		_ = e.in.Close()
		if lines := e.end(ReaderStuck); count(lines, `"code":"cancelled"`) != 1 {
			t.Errorf("%v: %s", e.err, lines)
		}
		near(t, "the end", e.took, testEOFTimeout)
	})
}

// TestGateGivesUpOnceTheHostHasClosedStdin: what stands unread in stdin behind the gate hides its end.
func TestGateGivesUpOnceTheHostHasClosedStdin(t *testing.T) {
	for _, closed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan struct{})
			if closed {
				close(ended)
			}
			e := newEngine(t, testkit.Pace{}, func(o *Options) {
				o.Sink = gatedSink{o.Sink.(sinkPort)}
				o.InputEnded = func(context.Context) <-chan struct{} { return ended }
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			start, want := time.Now(), time.Hour
			if closed {
				want = testEOFTimeout
			}
			if err := e.Gate(ctx); errors.Is(err, errReaderStuck) != closed || err == nil {
				t.Error(err)
			}
			near(t, "the wait", time.Since(start), want)
			_ = e.in.Close()
			e.end(EndOfInput)
		})
	}
}

package pipeline

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/testkit"
	"sluice/sources/stdin"
)

// TestHostGone: at the end of input nobody reads any more, so what runs is cancelled at once.
func TestHostGone(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"seen by a write": nil,
		"seen by a look": func(o *Options) {
			o.HostGone = func(context.Context) <-chan struct{} {
				gone := make(chan struct{})
				close(gone)
				return gone
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEngine(t, testkit.Pace{}, change)
				e.send(`{"id":1,"method":"chat","params":{"input":"a b HANG"}}`)
				time.Sleep(1500 * time.Millisecond)
				_ = e.out.Close()
				_ = e.in.Close()
				<-e.ended
				if e.reason != HostGone || e.err != nil || e.models.closed.Load() != 1 {
					t.Errorf("%q, %v", e.reason, e.err)
				}
				if want := 1500*time.Millisecond + closeTime; change != nil {
					near(t, "the end", e.took, want)
				} else {
					near(t, "the end", e.took, want+500*time.Millisecond)
				}
			})
		})
	}
}

// TestHostGoneLookEnds: the look for the host ends with what runs.
func TestHostGoneLookEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looked := make(chan struct{})
		e := newEngine(t, testkit.Pace{}, func(o *Options) {
			o.HostGone = func(ctx context.Context) <-chan struct{} {
				context.AfterFunc(ctx, func() { close(looked) })
				return nil
			}
		})
		_ = e.in.Close()
		<-e.ended
		<-looked
		e.end(EndOfInput)
	})
}

// TestBrokenStdout is survived while there is input.
func TestBrokenStdout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{}, nil)
		_ = e.out.Close()
		e.send(`{"id":1,"method":"ping"}`, long)
		time.Sleep(time.Minute)
		e.send(`{"id":2,"method":"shutdown"}`)
		<-e.ended
		if e.reason != Shutdown || e.err != nil {
			t.Errorf("%q, %v", e.reason, e.err)
		}
		near(t, "the end", e.took, time.Minute)
	})
}

// TestReadFailure ends the input, not what runs.
func TestReadFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, testkit.Pace{}, func(o *Options) {
			text := io.MultiReader(strings.NewReader(long+"\n"), failing{})
			o.Stdin = stdin.New(text, stdin.Options{})
		})
		if lines := e.end(ReadFailed); e.err != nil || count(lines, `"type":"result"`) != 1 {
			t.Errorf("%v: %s", e.err, lines)
		}
	})
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is on fire") }

// TestCountersAreLogged at debug, every ten seconds while it runs.
func TestCountersAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		e := newEngine(t, testkit.Pace{}, func(o *Options) {
			o.Logger = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		time.Sleep(35 * time.Second)
		_ = e.in.Close()
		e.end(EndOfInput)
		synctest.Wait()
		if n := strings.Count(text.String(), "msg=stats"); n != 3 {
			t.Errorf("they were logged %d times in 35 s:\n%s", n, &text)
		}
	})
}

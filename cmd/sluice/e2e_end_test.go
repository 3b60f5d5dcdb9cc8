//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/internal/testkit"
	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// much is an answer of more than what a pipe or a socket pair holds; flood is more than what the
// connection to the model holds too, so that once it was sent the engine holds much of it.
const (
	much  = "n=2000 size=1000"
	flood = "n=16000 size=1000"
)

// A reader that takes a byte now and then is alive, however slow.
func TestEndOfInputWaitsForATricklingReader(t *testing.T) {
	for name, o := range map[string]host.Options{"pipe": {Pace: paused}, "socket pair": {Pace: paused, Sockets: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const patience = 2 * time.Second
			e, server := attached(t, "output: {eof_timeout: 2s}\n", o)
			e.Chat("c", much)
			e.CloseStdin()
			server.WaitAnswers(1)
			trickle(t, e, 3*patience)
			e.Resume()
			wantWhole(t, e, "c", fakellama.Text(much))
			wantExit(t, e, 0)
		})
	}
}

// trickle reads a byte twenty times a patience of two seconds.
func trickle(t *testing.T, e *host.Engine, long time.Duration) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(long); ; {
		select {
		case <-tick.C:
			e.Allow(1)
		case <-e.Done():
			t.Fatalf("the engine gave up after %d bytes: %s", e.Taken(), e.Stderr())
		case <-end:
			return
		}
	}
}

func TestEndOfInputGivesUpOnAReaderThatTakesNothing(t *testing.T) {
	for name, o := range map[string]host.Options{"pipe": {Pace: paused}, "socket pair": {Pace: paused, Sockets: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := attached(t, "output: {eof_timeout: 300ms}\n", o)
			e.Chat("c", much)
			e.CloseStdin()
			wantExit(t, e, 1)
		})
	}
}

// Replies that nobody reads stop the intake, which hides the end of input from us.
func TestEndOfInputIsSeenBehindUnreadRequests(t *testing.T) {
	for name, o := range map[string]host.Options{"pipe": {Pace: paused, Reused: true}, "socket pair": {Pace: paused, Sockets: true, Reused: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := attached(t, "output: {guaranteed_bytes: 64KiB, eof_timeout: 300ms, shutdown_timeout: 300ms}\n", o)
			text := strings.Repeat(host.Request("p", "ping", nil), 50000)
			if taken, err := e.Offer(text, time.Second); err == nil {
				t.Fatalf("all %d bytes were taken", taken)
			}
			e.CloseStdin()
			wantExit(t, e, 1)
		})
	}
}

func TestShutdownGivesUpAfterItsTimeout(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "output: {shutdown_timeout: 300ms}\n", host.Options{Pace: paused})
	e.Chat("c", flood)
	server.WaitAnswers(1)
	e.Send("s", "shutdown", nil)
	wantExit(t, e, 1)
	server.WaitIdle()
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "output: {shutdown_timeout: 1h}\n", host.Options{Pace: paused})
	e.Chat("c", flood)
	server.WaitAnswers(1)
	e.Signal(syscall.SIGTERM)
	testkit.Until(t, "the first signal is seen", func() bool { return strings.Contains(e.Stderr(), "stopping") })
	e.Signal(syscall.SIGTERM)
	wantExit(t, e, 1)
}

func TestSignalsCancelWhatRuns(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			e, server := attached(t, "app: {max_parallel_chats: 2}\n", host.Options{})
			for i := range 3 {
				e.Chat(numbered("c", i), "n=9 hang=3")
			}
			server.WaitBusy(2)
			e.Event("c0", "llm_chunk")
			e.Signal(signal)
			for i := range 3 {
				e.Error(numbered("c", i), "cancelled")
			}
			wantExit(t, e, 0)
			server.WaitIdle()
		})
	}
}

func TestShutdownCancelsThenAnswers(t *testing.T) {
	t.Parallel()
	e, _ := attached(t, "", host.Options{})
	e.Chat("c", "n=9 hang=3")
	e.Event("c", "llm_chunk")
	e.Raw(host.Request("s", "shutdown", nil) + host.Request("never", "ping", nil))
	wantExit(t, e, 0)
	var finals []string
	for _, m := range e.Messages() {
		if m.Get("type").Str != "event" {
			finals = append(finals, m.Get("id").Str)
		}
	}
	if strings.Join(finals, " ") != "c s" {
		t.Errorf("the finals are %q", finals)
	}
}

func TestEndOfInputFinishesWhatRuns(t *testing.T) {
	t.Parallel()
	e, _ := attached(t, "app: {max_parallel_chats: 1}\n", host.Options{})
	for i := range 3 {
		e.Chat(numbered("c", i), "n=50 rest=2ms")
	}
	e.CloseStdin()
	wantExit(t, e, 0)
	for i := range 3 {
		wantWhole(t, e, numbered("c", i), fakellama.Text("n=50"))
	}
}

// The upstream is silent for ever after its first token: no write fails, so only a look at the other
// end can end this engine.
func TestHostGoneEndsTheEngine(t *testing.T) {
	for name, o := range map[string]host.Options{"pipes": {}, "socket pairs": {Sockets: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, server := attached(t, "", o)
			e.Chat("c", "n=9 hang=1")
			e.Event("c", "llm_chunk")
			e.CloseStdin()
			e.CloseStdout()
			wantExit(t, e, 0)
			server.WaitIdle()
		})
	}
}

func TestClosedStdoutIsServedOn(t *testing.T) {
	for name, o := range map[string]host.Options{"pipes": {}, "socket pairs": {Sockets: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, server := attached(t, "", o)
			wantAlive(t, e)
			e.CloseStdout()
			for i := range 3 {
				e.Chat(numbered("c", i), "n=200")
				server.WaitAnswers(i + 1)
			}
			e.CloseStdin()
			wantExit(t, e, 0)
			if n := strings.Count(e.Log(), "ERROR_STACKTRACE"); n != 1 {
				t.Errorf("told %d times: %s", n, e.Log())
			}
		})
	}
}

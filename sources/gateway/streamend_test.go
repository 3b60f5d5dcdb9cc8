package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reugn/go-streams/flow"

	"sluice/internal/wire"
)

func TestStreamEndsWithItsContextAndClosesTheConnection(t *testing.T) {
	for _, steer := range []string{"n=9 hang=3", "n=100000 rate=200", "mute=1"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{}, true)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			why := errors.New("why")
			time.AfterFunc(time.Second, func() { cancel(why) })
			start := time.Now()
			if err := w.chat(t, ctx, steer, &collector{}); !errors.Is(err, why) {
				t.Errorf("got %v", err)
			}
			w.WaitIdle()
			if took := time.Since(start); took != time.Second {
				t.Errorf("%s: ended after %s", steer, took)
			}
			if len(w.Stopped()) != 0 {
				t.Error("the run was stopped")
			}
		})
	}
}

// TestStreamHasNoTimeout: a stream that says nothing for hours is no failure, once it has begun.
func TestStreamHasNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		body := &scripted{pieces: []any{frameOf(" a"), 5 * time.Hour, frameOf(" b")}}
		s := &Stream{next: c}
		if err := s.receive(t.Context(), body); err != nil || c.text.String() != " a b" || s.Upstream() != 5*time.Hour {
			t.Errorf("%v, text %q, upstream %s", err, c.text.String(), s.Upstream())
		}
	})
}

func TestStreamStopsWhenTheNextStageWantsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		c := &collector{refuse: wire.NewFault(wire.CodeInternal, "enough")}
		wantFault(t, w.chat(t, t.Context(), "n=1000 rate=100", c), wire.CodeInternal, 0, "enough")
		w.WaitIdle()
		if c.text.String() != " w0" || w.Broken() != 1 {
			t.Errorf("text %q, %d broken", c.text.String(), w.Broken())
		}
	})
}

// TestStreamUsesItsConnectionAgain: what follows the end of a stream is read, so that the next call
// needs no new connection.
func TestStreamUsesItsConnectionAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		w := newWorld(t, Options{}, true)
		client := NewClient(Options{Dial: countDials(w.Dial, &dials)})
		defer client.Close()
		w.account = client.Account(w.URL, w.session)
		for _, steer := range []string{"n=3", "n=3 tail=9", "status=404", "n=3 end=0"} {
			_ = w.chat(t, t.Context(), steer, &collector{})
		}
		if dials != 1 {
			t.Errorf("%d connections", dials)
		}
	})
}

func TestStreamFeedsAForeignOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		stream := w.account.OpenChat(ChatRequest{Input: `"n=50 frag=1 node=1"`})
		out := stream.Via(flow.NewPassThrough()).Out()
		ended := make(chan error, 1)
		go func() { ended <- stream.Run(t.Context()) }()
		c := &collector{}
		for element := range out {
			_ = c.Push(t.Context(), element)
		}
		if err := <-ended; err != nil || c.text.String() != texts(50, " w%d") || len(c.frames) != 2 {
			t.Errorf("%v, text %q", err, c.text.String())
		}
	})
}

package gateway

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"sluice/internal/testkit/fakegateway"
	"sluice/internal/wire"
)

// world is a gateway with a session at it.
type world struct {
	*fakegateway.Server
	client  *Client
	session *heldSession
	account *Account
}

// newWorld starts a gateway, in memory where the test is a bubble, and signs in.
func newWorld(t testing.TB, o Options, memory bool) *world {
	t.Helper()
	w := &world{Server: fakegateway.Start(t, fakegateway.Options{Memory: memory})}
	if memory {
		o.Dial = w.Dial
	}
	w.client = NewClient(o)
	t.Cleanup(w.client.Close)
	access, refresh := w.SignIn()
	w.session = &heldSession{client: w.client, server: w.URL, access: access, refresh: refresh}
	w.account = w.client.Account(w.URL, w.session)
	return w
}

// heldSession is a session in memory; concurrent refreshes share one.
type heldSession struct {
	client          *Client
	server, refresh string
	fault           error // instead of a token

	mu     sync.Mutex
	access string
	stales int // calls of Refreshed
}

func (s *heldSession) Token(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.access, s.fault
}

func (s *heldSession) Refreshed(ctx context.Context, stale string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stales++
	if s.access != stale {
		return s.access, nil
	}
	fresh, err := s.client.Refresh(ctx, s.server, s.refresh)
	if err == nil {
		s.access = fresh
	}
	return fresh, err
}

// collector is a stage that keeps what it is given: the events of the stream in order, texts that
// follow each other joined.
type collector struct {
	told    strings.Builder
	text    strings.Builder
	frames  []string
	items   int
	batches int
	ended   int
	cause   error
	refuse  error // returned by Push
	pushed  func()
}

func (c *collector) Push(_ context.Context, element any) error {
	batch := element.(*wire.Tokens)
	c.batches++
	c.items += len(batch.Items)
	for _, token := range batch.Items {
		if token.Kind == wire.TokenFrame {
			c.frames = append(c.frames, string(token.Raw))
			c.told.WriteString("\n" + string(token.Raw) + "\n")
			continue
		}
		c.text.Write(token.Raw)
		c.told.Write(token.Raw)
	}
	if c.pushed != nil {
		c.pushed()
	}
	return c.refuse
}

func (c *collector) Done(cause error) { c.ended++; c.cause = cause }

// chat runs one stream to its end.
func (w *world) chat(t testing.TB, ctx context.Context, steer string, c *collector) error {
	t.Helper()
	stream := w.account.OpenChat(ChatRequest{WorkflowID: "wf_abc", WorkflowName: "Sales Agent", InteractionID: "conv-9", Input: `"` + steer + `"`})
	stream.next = c
	err := stream.Run(ctx)
	if c.ended != 1 || c.cause != err {
		t.Errorf("the next stage was told the end %d times, with %v instead of %v", c.ended, c.cause, err)
	}
	return err
}

// wantFault checks an error's code and status and the words of its message.
func wantFault(t testing.TB, err error, code wire.Code, status int, words ...string) {
	t.Helper()
	var fault *wire.Fault
	if !errors.As(err, &fault) || fault.Code != code || fault.Status != status {
		t.Fatalf("got %#v, want %s with status %d", err, code, status)
	}
	for _, word := range words {
		if !strings.Contains(fault.Message, word) {
			t.Errorf("the message doesn't say %q: %s", word, fault.Message)
		}
	}
}

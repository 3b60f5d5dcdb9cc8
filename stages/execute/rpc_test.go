package execute

import (
	"errors"
	"reflect"
	"testing"
	"testing/synctest"

	"sluice/internal/wire"
)

// rpcWorld is a world whose host speaks JSON-RPC.
type rpcWorld struct {
	*world
	user *user
}

// inRPC runs a test behind a good initialize.
func inRPC(t *testing.T, options Options, test func(rpcWorld)) {
	t.Helper()
	u := newUser()
	options.RPC = u.rpc()
	inWorld(t, options, func(w *world) {
		r := rpcWorld{w, u}
		r.call("init", wire.MethodHandshake, &wire.HandshakeParams{Version: 1})
		w.out.taken()
		test(r)
	})
}

// call pushes a request and waits until nothing moves. It returns the answer, if there is one by then.
func (w rpcWorld) call(id wire.ID, method wire.Method, params any) wire.Reply {
	w.t.Helper()
	before := w.out.count(id)
	if err := w.push(request(id, method, params, 10)); err != nil {
		w.t.Error(err)
	}
	synctest.Wait()
	if w.out.count(id) == before {
		return nil
	}
	return w.out.last(id)
}

// start begins a chat and returns its stream.
func (w rpcWorld) start(p *wire.ChatStartParams) wire.ID {
	w.t.Helper()
	p.IsText = true
	started, ok := w.call("start", wire.MethodChatStart, p).(*wire.ChatStarted)
	if !ok {
		w.t.Fatalf("chat/start was answered %v", w.out.last("start"))
	}
	return started.Stream
}

func (w rpcWorld) health() int {
	w.t.Helper()
	return w.call("health", wire.MethodHealth, nil).(*wire.Health).ActiveChats
}

// count is how many replies a request got.
func (o *fakeOutput) count(id wire.ID) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.replies[id])
}

func codeOf(reply wire.Reply) wire.Code {
	if fault, ok := reply.(*wire.Fault); ok && fault != nil {
		return fault.Code
	}
	return ""
}

func TestBeforeInitialize(t *testing.T) {
	inWorld(t, Options{RPC: newUser().rpc()}, func(w *world) {
		r := rpcWorld{w, nil}
		for _, method := range []wire.Method{wire.MethodHealth, wire.MethodStats, wire.MethodProfileList, wire.MethodShutdown, wire.MethodExit} {
			if code := codeOf(r.call("a", method, nil)); code != wire.CodeNotInitialized {
				t.Errorf("method %d: %q", method, code)
			}
		}
		for code, want := range map[wire.Code]wire.Code{
			wire.CodeInvalidJSON: wire.CodeInvalidJSON, wire.CodeInvalidRequest: wire.CodeInvalidRequest,
			wire.CodeInvalidParams: wire.CodeNotInitialized, wire.CodeUnknownMethod: wire.CodeNotInitialized,
		} {
			bad := request("b", wire.MethodUnknown, nil, 10)
			bad.Fault = wire.NewFault(code, "why")
			if err := w.push(bad); err != nil || codeOf(w.out.last("b")) != want {
				t.Errorf("%s: %v, %v", code, err, w.out.last("b"))
			}
		}
		bad := request("c", wire.MethodHandshake, nil, 10)
		bad.Fault = wire.NewFault(wire.CodeInvalidParams, "why")
		if err := w.push(bad); err != nil || codeOf(w.out.last("c")) != wire.CodeInvalidParams {
			t.Errorf("initialize with wrong params: %v", w.out.last("c"))
		}
	})
}

func TestHandshake(t *testing.T) {
	inWorld(t, Options{Version: "v1", RPC: newUser().rpc()}, func(w *world) {
		r := rpcWorld{w, nil}
		for _, version := range []int64{2, 0, -1} {
			if code := codeOf(r.call("a", wire.MethodHandshake, &wire.HandshakeParams{Version: version})); code != wire.CodeProtocolMismatch {
				t.Errorf("version %d: %q", version, code)
			}
		}
		if code := codeOf(r.call("b", wire.MethodHealth, nil)); code != wire.CodeNotInitialized {
			t.Errorf("a failed initialize opened the gate: %q", code)
		}
		for range 2 {
			if got := r.call("c", wire.MethodHandshake, &wire.HandshakeParams{Version: 1}); !reflect.DeepEqual(got, &wire.Handshake{ProtocolVersion: 1, ServerVersion: "v1"}) {
				t.Errorf("got %+v", got)
			}
		}
		if code := codeOf(r.call("d", wire.MethodHandshake, &wire.HandshakeParams{Version: 2})); code != wire.CodeProtocolMismatch || r.health() != 0 {
			t.Errorf("another version later: %q", code)
		}
	})
}

// TestNotifications are served and never answered.
func TestNotifications(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		stream := w.start(&wire.ChatStartParams{WorkflowID: "w", WorkflowName: "n", Input: `"1h"`})
		w.out.taken()
		notify := func(method wire.Method, params any, fault *wire.Fault) {
			t.Helper()
			r := request("", method, params, 10)
			r.Notification, r.Fault = true, fault
			if err := w.push(r); err != nil {
				t.Errorf("method %d: %v", method, err)
			}
			synctest.Wait()
		}
		notify(wire.MethodHealth, nil, nil)
		notify(wire.MethodUnknown, nil, wire.NewFault(wire.CodeUnknownMethod, "why"))
		notify(wire.MethodHandshake, &wire.HandshakeParams{Version: 7}, nil)
		notify(wire.MethodChatStart, &wire.ChatStartParams{WorkflowID: "w", Input: `""`}, nil)
		notify(wire.MethodProfileUse, &wire.ProfileParams{Profile: "out"}, nil)
		notify(wire.MethodProfileUse, &wire.ProfileParams{Profile: "nobody"}, nil)
		notify(wire.MethodChatCancel, &wire.StreamParams{Stream: stream}, nil)
		w.saying("0s " + string(stream) + " cancelled")
		if w.user.current != "out" || w.health() != 0 {
			t.Errorf("they were not served: %q, %d", w.user.current, w.health())
		}
	})
}

// TestEnds: shutdown is answered by the farewell, exit never.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		request wire.Request
		answers int
	}{
		"shutdown":              {request("x", wire.MethodShutdown, nil, 0), 1},
		"exit":                  {wire.Request{Method: wire.MethodExit, Notification: true}, 0},
		"exit with an id":       {request("x", wire.MethodExit, nil, 0), 1},
		"shutdown without one":  {wire.Request{Method: wire.MethodShutdown, Notification: true}, 0},
		"exit before the start": {wire.Request{Method: wire.MethodExit, Notification: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, Options{RPC: newUser().rpc()}, func(w *world) {
				w.initialized = name != "exit before the start"
				if err := w.push(c.request, request("late", wire.MethodHealth, nil, 0)); !errors.Is(err, ErrShutdown) {
					t.Errorf("got %v", err)
				}
				w.Stop(errors.New("over"))
				w.Wait()
				if n := w.out.count("x") + w.out.count(""); n != 0 {
					t.Errorf("%d answers before the farewell", n)
				}
				w.Farewell()
				if n := w.out.count("x") + w.out.count(""); n != c.answers || w.out.count("late") != 0 {
					t.Errorf("%d answers", n)
				}
			})
		})
	}
}

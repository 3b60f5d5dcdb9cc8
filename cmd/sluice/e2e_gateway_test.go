//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/testkit/fakegateway"
	"sluice/internal/testkit/host"
	"sluice/internal/testkit/secretservice"
)

// gatewayHost is a host whose engine has a real Secret Service and a gateway, the profile corp.
type gatewayHost struct {
	*host.Engine
	t       *testing.T
	home    string
	gateway *fakegateway.Server
}

func newGatewayHost(t *testing.T) *gatewayHost {
	t.Helper()
	h := &gatewayHost{t: t, home: t.TempDir(), gateway: fakegateway.Start(t, fakegateway.Options{})}
	h.Engine = spawnRPC(t, "", host.Options{Dir: h.home, Env: secretservice.Start(t).Environ, Sockets: true})
	h.RPCResult("profile", "profile/set", map[string]any{"name": "corp", "serverUrl": h.gateway.URL})
	if got := h.RPCResult("login", "auth/login", h.login(h.gateway.Password)); !got.Get("authenticated").Bool() {
		t.Fatalf("the sign-in is answered %s", got.Raw)
	}
	return h
}

func (h *gatewayHost) login(password string) map[string]any {
	return map[string]any{"email": h.gateway.Email, "password": password}
}

func (h *gatewayHost) start(id, input string) string {
	h.t.Helper()
	return startChat(h.Engine, id, map[string]any{"workflowId": "wf_abc", "workflowName": "Sales Agent", "interactionId": "of " + id, "input": input})
}

// wantNoSecret looks through everything that the engine said or left, once it has ended.
func (h *gatewayHost) wantNoSecret() {
	h.t.Helper()
	said := map[string]string{"the log": h.Log()}
	for _, m := range h.Messages() {
		said["stdout"] += m.Raw
	}
	err := filepath.WalkDir(h.home, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		said[path] = string(text)
		return err
	})
	if err != nil || len(said) < 3 || !strings.Contains(said["the log"], "level=DEBUG") {
		h.t.Fatalf("%v, %d texts; the log is %.300q", err, len(said), said["the log"])
	}
	for where, text := range said {
		for _, secret := range h.gateway.Secrets() {
			if strings.Contains(text, secret) {
				h.t.Errorf("%s holds a secret", where)
			}
		}
	}
}

// TestRPCGateway: a whole session at debug level, with everything that goes wrong. Nothing secret is said.
func TestRPCGateway(t *testing.T) {
	t.Parallel()
	h := newGatewayHost(t)
	h.RPCError("wrong", "auth/login", h.login("x"+h.gateway.Password), -32000, "auth_invalid")
	if got := h.RPCResult("agents", "agents/list", map[string]any{"pageSize": 2}).Get("items.0.workflowName").Str; got != "Sales Agent" {
		t.Errorf("the first agent is %q", got)
	}
	good := h.start("good", "n=200 tool=1 log=1 frag=1")
	if end := h.Ended(good); end.Get("method").Str != "chat/complete" || len(h.StreamText(good)) < 600 {
		t.Errorf("the stream ended with %s", end.Raw)
	}
	big := h.start("big", "n=1 big=5000000")
	if end := h.Ended(big); end.Get("method").Str != "chat/complete" || len(h.StreamText(big)) < 5_000_000 {
		t.Errorf("the big one has %d bytes and ended with %s", len(h.StreamText(big)), end.Raw)
	}
	for id, input := range map[string]string{"lost": "n=50 die=30", "page": "html=1", "refused": "status=500"} {
		if end := h.Ended(h.start(id, input)); end.Get("params.error.code").Str != "network_error" {
			t.Errorf("%s ended with %s", id, end.Raw)
		}
	}
	h.RPCError("turns", "history/turns", map[string]any{"workflowId": "wf_abc"}, -32602, "invalid_params")
	if got := h.RPCResult("snapshot", "history/snapshot", map[string]any{"workflowId": "wf_abc", "interactionId": "conv-1"}).Get("turns.#").Int(); got != 3 {
		t.Errorf("there are %d turns", got)
	}
	hung := h.start("hung", "n=9 hang=3")
	h.gateway.WaitActive(1)
	if got := h.RPCResult("stop", "chat/stop", map[string]any{"streamId": hung}).Raw; got != `{"cancelled":true,"stopped":true}` {
		t.Errorf("chat/stop: %s", got)
	}
	if end := h.Ended(hung); end.Get("params.error.code").Str != "cancelled" {
		t.Errorf("the stopped one ended with %s", end.Raw)
	}
	h.gateway.WaitIdle()
	h.RPCResult("logout", "auth/logout", nil)
	h.RPCError("again", "agents/list", nil, -32000, "auth_required")
	wantEndOfInput(t, h.Engine)
	h.wantNoSecret()
}

// TestRPCGatewayGoes: its loss is an error of the streams, and no reason to forget the session.
func TestRPCGatewayGoes(t *testing.T) {
	t.Parallel()
	h := newGatewayHost(t)
	lost := h.start("lost", "n=1000 rate=500 die=20")
	if end := h.Ended(lost); end.Get("params.error.code").Str != "network_error" || !strings.HasSuffix(h.StreamText(lost), " w19") {
		t.Errorf("it ended with %s behind %q", end.Raw, h.StreamText(lost))
	}
	h.gateway.Close()
	if end := h.Ended(h.start("late", "n=1")); end.Get("params.error.code").Str != "network_error" {
		t.Errorf("the next ended with %s", end.Raw)
	}
	if got := h.RPCResult("status", "auth/status", nil).Get("reason").Str; got != "network" {
		t.Errorf("the reason is %q", got)
	}
	wantEndOfInput(t, h.Engine)
	h.wantNoSecret()
}

// TestRPCEndsWhileItStreams: shutdown ends what runs in order, and the end of input lets it finish.
func TestRPCEndsWhileItStreams(t *testing.T) {
	t.Parallel()
	h := newGatewayHost(t)
	stream := h.start("chat", "n=100000 rate=100")
	h.gateway.WaitActive(1)
	if got := h.RPC("end", "shutdown", nil).Get("result").Raw; got != "null" {
		t.Errorf("shutdown is answered %s", got)
	}
	wantExit(t, h.Engine, 0)
	if end := h.Ended(stream); end.Get("params.error.code").Str != "cancelled" {
		t.Errorf("the stream ended with %s", end.Raw)
	}
	last := h.Messages()[len(h.Messages())-1]
	if last.Get("id").Str != "end" {
		t.Errorf("the last line is %s", last.Raw)
	}
}

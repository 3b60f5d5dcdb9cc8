package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"sluice/internal/testkit"
	"sluice/internal/wire"
)

func TestUnknownSession(t *testing.T) {
	of := func(code int64, message string) *jsonrpc.Error { return &jsonrpc.Error{Code: code, Message: message} }
	for name, c := range map[string]struct {
		session  string
		status   int
		answered *jsonrpc.Error
		want     bool
	}{
		"by the protocol":           {"s1", 404, nil, true},
		"the SDKs' error":           {"s1", 404, of(-32001, "Session not found"), true},
		"an error of another kind":  {"s1", 404, of(-32000, "not here"), true},
		"no such method":            {"s1", 404, of(-32601, "no such method"), false},
		"no session to forget":      {"", 404, nil, false},
		"as the examples":           {"s1", 400, of(-32000, "Bad Request: No valid session ID provided"), true},
		"bad without a reason":      {"s1", 400, nil, true},
		"bad arguments":             {"s1", 400, of(-32602, "the date lies in the past"), false},
		"arguments about a session": {"s1", 400, of(-32602, "the session with the dentist was yesterday"), false},
		"its name":                  {"s1", 400, of(-32602, "s1 is unknown"), true},
		"bad for another reason":    {"s1", 400, of(-32000, "the model is overloaded"), false},
		"another status":            {"s1", 500, of(-32000, "session lost"), false},
	} {
		if got := unknownSession(c.session, c.status, c.answered); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// A call that is refused with HTTP 400 and a JSON-RPC error fails alone: it is made once, its reason is
// told, and a call beside it goes on in the same session.
func TestRefusedCallFailsAlone(t *testing.T) {
	sdk := streamable(sdkServer(t, nil))
	var refused, starts atomic.Int32
	holding, release := make(chan struct{}), make(chan struct{})
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(text))
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(text, &request)
		switch {
		case request.Method == "initialize":
			starts.Add(1)
		case request.Method == "tools/call" && strings.Contains(string(text), "the past"):
			refused.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"the date lies in the past"}}`, request.ID)
			return
		case request.Method == "tools/call" && strings.Contains(string(text), "beside"):
			close(holding)
			<-release
		}
		sdk.ServeHTTP(w, r)
	}))
	w := remoteWorld(t, server.URL)
	w.list()
	beside := make(chan wire.ToolResult, 1)
	go func() { beside <- w.Call(t.Context(), "x/echo", `{"a":"beside"}`) }()
	<-holding
	result := w.Call(t.Context(), "x/echo", `{"a":"the past"}`)
	if result.Status != wire.ToolError || !result.Retryable || result.Text != "the tool failed: the date lies in the past" {
		t.Errorf("got %+v", result)
	}
	close(release)
	if result := <-beside; result.Status != wire.ToolOK || result.Text != `{"a":"beside"}` {
		t.Errorf("the call beside it: %+v", result)
	}
	w.want(wire.ToolOK, "x/echo", "{}")
	testkit.Until(t, "the server is ready", func() bool { return w.Status()[0].State == StateReady })
	if refused.Load() != 1 || starts.Load() != 1 {
		t.Errorf("%d calls, %d sessions", refused.Load(), starts.Load())
	}
}

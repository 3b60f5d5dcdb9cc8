package gateway

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit/fakegateway"
	"sluice/internal/wire"
)

// texts are the texts that a stream of n sends.
func texts(n int, form string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}

func TestStreamInEveryForm(t *testing.T) {
	for _, c := range []struct {
		steer, text string
		ended       bool
	}{
		{"n=20", texts(20, " w%d"), true},
		{"n=20 crlf=1", texts(20, " w%d"), true},
		{"n=20 frag=1 uni=1", texts(20, " 안녕%d🙂"), true},
		{"n=20 multi=1 crlf=1 frag=1", texts(20, " w%d"), true},
		{"n=20 beat=1 nosep=1", texts(20, " w%d"), true},
		{"n=20 nosep=1 frag=1", texts(20, " w%d"), true},
		{"n=20 end=0", texts(20, " w%d"), false},
		{"n=20 tail=3", texts(20, " w%d"), true},
		{"n=3 nel=1", texts(3, "\u2028%d\u2029\u0085"), true},
		{"n=20 spaces=1", texts(20, " w%d"), true},
		{"n=3 ascii=1 uni=1", texts(3, ` \uc548\ub155%d\ud83d\ude42`), true},
		{"n=20 bad=1 junk=1", texts(20, " w%d"), true},
		{"n=0", "", true},
		{"n=0 end=0", "", false},
		{"n=5000", texts(5000, " w%d"), true},
		{"n=5000 crlf=1 uni=1", texts(5000, " 안녕%d🙂"), true},
		{"n=2 big=5000000", strings.Repeat("x", 5000000) + " w0 w1", true},
		{"n=2 big=5000000 crlf=1 multi=1", strings.Repeat("x", 5000000) + " w0 w1", true},
	} {
		t.Run(c.steer, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{}, true)
				got := &collector{}
				if err := w.chat(t, t.Context(), c.steer, got); err != nil {
					t.Fatal(err)
				}
				if got.text.String() != c.text {
					t.Errorf("text %.300q", got.text.String())
				}
				if ended := len(got.frames) == 1 && got.frames[0] == `{"kind":"end"}`; ended != c.ended || !ended && len(got.frames) > 0 {
					t.Errorf("frames %q", got.frames)
				}
			})
		})
	}
}

func TestStreamKeepsTheOrderOfTextAndEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		got := &collector{}
		if err := w.chat(t, t.Context(), "n=2 err=1 node=1 log=1 io=512 summary=1 suspended=1", got); err != nil {
			t.Fatal(err)
		}
		want := `
{"kind":"node_status","event":{"nodeId":"agent","label":"Agent node","node_id":"agent","status":"running"}}

{"kind":"log","data":{"level":"INFO","message":"step one"}}

{"kind":"log","data":"plain text line"}
 w0
{"kind":"error","detail":"node failed"}
 w1
{"kind":"execution_io","executionIoId":512}

{"kind":"summary","text":"summary","data":{"outputs":["sum","mary"],"tokens":5}}

` + suspended + `

{"kind":"end"}
`
		if got.told.String() != want {
			t.Errorf("got  %s\nwant %s", got.told.String(), want)
		}
	})
}

func TestStreamSendsTheContractsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		stream := w.account.OpenChat(ChatRequest{"wf_é", "Sales \"Agent\"", "conv-9", `[{"type":"text","text":"n=1"}]`})
		stream.next = &collector{}
		if err := stream.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		sent := w.Requests(fakegateway.PathChat)[0]
		want := `{"workflow_name":"Sales \"Agent\"","workflow_id":"wf_é","input_data":[{"type":"text","text":"n=1"}],"interaction_id":"conv-9",` +
			`"selected_collections":[],"selected_files":[],"include_logs":true,"include_node_status":true,"include_tool_events":true,` +
			`"response_format":"stream","client_surface":"connector"}`
		if sent.Body != want || !gjson.Valid(sent.Body) {
			t.Errorf("got  %s\nwant %s", sent.Body, want)
		}
		header := sent.Header
		if sent.Method != "POST" || header.Get("Accept") != "text/event-stream" || header.Get("Accept-Encoding") != "identity" || sent.Token != w.Issued()[0] {
			t.Errorf("%s %v", sent.Method, header)
		}
	})
}

func TestStreamsThatFail(t *testing.T) {
	for _, c := range []struct {
		steer  string
		code   wire.Code
		status int
		words  []string
		text   string
	}{
		{"n=50 die=30", wire.CodeNetwork, 0, []string{"broke off", "connection was lost"}, texts(30, " w%d")},
		{"n=50 die=0", wire.CodeNetwork, 0, []string{"broke off"}, ""},
		{"status=500", wire.CodeNetwork, 500, []string{"500", "refused"}, ""},
		{"status=503 msg=overloaded", wire.CodeNetwork, 503, []string{"503", "overloaded"}, ""},
		{"status=404", wire.CodeNotFound, 404, []string{"404"}, ""},
		{"status=403", wire.CodeAuthInvalid, 403, []string{"403", "permission"}, ""},
		{"status=422 msg=odd", wire.CodeNetwork, 422, []string{"422", "odd"}, ""},
		{"html=1", wire.CodeNetwork, 200, []string{"web page", "serverUrl"}, ""},
		{"json=1", wire.CodeNetwork, 200, []string{"no stream for you"}, ""},
		{"mute=1", wire.CodeNetwork, 0, []string{"didn't answer in time"}, ""},
		{"n=1 big=17000000", wire.CodeNetwork, 0, []string{"16 MiB"}, ""},
	} {
		t.Run(c.steer, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{}, true)
				got := &collector{}
				wantFault(t, w.chat(t, t.Context(), c.steer, got), c.code, c.status, c.words...)
				if got.text.String() != c.text {
					t.Errorf("text %q", got.text.String())
				}
				if n := len(w.Requests(fakegateway.PathChat)); n != 1 {
					t.Errorf("sent %d times", n)
				}
				w.WaitIdle()
			})
		})
	}
}

func TestStreamRefreshesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		w.Expire(false)
		got := &collector{}
		if err := w.chat(t, t.Context(), "n=3", got); err != nil || got.text.String() != " w0 w1 w2" {
			t.Fatalf("%v, text %q", err, got.text.String())
		}
		w.Expire(true)
		wantFault(t, w.chat(t, t.Context(), "n=3", &collector{}), wire.CodeAuthInvalid, 200, "sign in again")
		w.Fail(fakegateway.PathChat, fakegateway.Failure{Status: 401}, fakegateway.Failure{Status: 401}, fakegateway.Failure{Status: 401})
		w.session.access, w.session.refresh = w.SignIn()
		before := len(w.Requests(fakegateway.PathChat))
		wantFault(t, w.chat(t, t.Context(), "n=3", &collector{}), wire.CodeAuthInvalid, 401, "refused for the test", "sign in again")
		if n := len(w.Requests(fakegateway.PathChat)) - before; n != 2 {
			t.Errorf("sent %d times", n)
		}
	})
}

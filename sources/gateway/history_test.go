package gateway

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit/fakegateway"
	"sluice/internal/wire"
)

func TestConversations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		got, err := w.account.Conversations(t.Context())
		want := []wire.Conversation{
			{ID: 1, InteractionID: "conv-1", WorkflowID: "wf_abc", WorkflowName: "Sales Agent", InteractionCount: 3, Metadata: `{"pinned":true}`,
				Created: "2026-03-02T08:15:00", Updated: "2026-05-11T17:45:00"},
			{ID: 2, InteractionID: "conv-2", WorkflowID: "wf_bare", WorkflowName: "Bare", Metadata: "{}"},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v", got, err)
		}
		w.Fail(fakegateway.PathConversations, fakegateway.Failure{Status: 200, Body: `{"execution_meta_list":null}`})
		if got, err := w.account.Conversations(t.Context()); err != nil || got == nil || len(got) != 0 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestIOLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		got, err := w.account.IOLogs(t.Context(), "wf_abc", "Sales Agent", "conv-1")
		turn := wire.HistoryTurn{LogID: 1, IOID: 11, InteractionID: "conv-1", WorkflowID: "wf_abc", WorkflowName: "Sales Agent",
			Input: "hello", Output: "안녕하세요", Updated: "2026-05-11T17:45:00"}
		if err != nil || len(got.Turns) != 3 || got.Turns[0] != turn || got.Running {
			t.Fatalf("got %+v, %v", got, err)
		}
		if got.Turns[1].Input != "look\n[image]\nhere" || got.Turns[1].Output != `{"answer":"yes"}` || got.Turns[2].Input != "" || got.Turns[2].Output != "7" {
			t.Errorf("got %+v", got.Turns)
		}
		w.Run("conv-1", false)
		got, err = w.account.IOLogs(t.Context(), "wf_abc", "", "conv-1")
		if err != nil || !got.Running {
			t.Errorf("got %+v, %v", got, err)
		}
		sent := w.Requests(fakegateway.PathLogs)
		for i, want := range []map[string]string{
			{"workflow_id": "wf_abc", "interaction_id": "conv-1", "workflow_name": "Sales Agent"}, {"workflow_id": "wf_abc", "interaction_id": "conv-1"},
		} {
			if !reflect.DeepEqual(sent[i].Query, want) {
				t.Errorf("asked %v", sent[i].Query)
			}
		}
	})
}

func TestFlatten(t *testing.T) {
	for given, want := range map[string]string{
		`null`: "", `""`: "", `"a\nb"`: "a\nb", `7`: "7", `true`: "true", `{"a": 1}`: `{"a": 1}`,
		`[]`: "", `["a","b"]`: "a\nb", `[1,2]`: "[1,2]", `["a",null]`: `["a",null]`, `[["a"]]`: `[["a"]]`,
		`[{"type":"text","text":"a"},"b",{"type":"input_image","text":"x"},{"type":"file","name":"f"}]`: "a\nb\n[image]\n" + `{"type":"file","name":"f"}`,
		`[{"text":5},{"type":"image_url"}]`: `{"text":5}` + "\n[image]",
	} {
		if got := flatten(gjson.Parse(given)); got != want {
			t.Errorf("%s: got %q, want %q", given, got, want)
		}
	}
	if got := flatten(gjson.Result{}); got != "" {
		t.Errorf("what is missing: got %q", got)
	}
}

func TestStopRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		w.Run("conv/d ?", false)
		w.Run("conv-y", true)
		for _, c := range []struct {
			id     string
			reason wire.StopReason
		}{{"conv/d ?", wire.StopDone}, {"conv/d ?", wire.StopNotRunning}, {"conv-y", wire.StopElsewhere}} {
			if got, err := w.account.StopRun(t.Context(), c.id); err != nil || got != c.reason {
				t.Errorf("%s: got %q, %v", c.id, got, err)
			}
		}
		if sent := w.Requests(fakegateway.PathStop + "conv%2Fd%20%3F"); len(sent) != 2 || sent[0].Method != "POST" || w.Stopped()[0] != "conv/d ?" {
			t.Errorf("%q was asked to stop", w.Stopped())
		}
		w.Fail(fakegateway.PathStop+"x", fakegateway.Failure{Status: 500}, fakegateway.Failure{Status: 403}, fakegateway.Failure{Drop: true}, fakegateway.Failure{Hang: true},
			fakegateway.Failure{Status: 200, Body: `{"stopped":false}`}, fakegateway.Failure{Status: 200, Body: `<html>`})
		start := time.Now()
		for range 6 {
			if got, err := w.account.StopRun(t.Context(), "x"); err != nil || got != wire.StopError {
				t.Errorf("got %q, %v", got, err)
			}
		}
		if took := time.Since(start); took != callLimit {
			t.Errorf("took %s", took)
		}
		w.session.fault = wire.NewFault(wire.CodeAuthRequired, "sign in")
		if _, err := w.account.StopRun(t.Context(), "x"); err != w.session.fault {
			t.Errorf("got %v", err)
		}
	})
}

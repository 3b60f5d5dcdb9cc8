package execute

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"sluice/internal/wire"
)

func TestLocalAgents(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		names := func(q wire.AgentQuery) (list []string, page wire.AgentPage) {
			got := w.call("a", wire.MethodAgentsList, &wire.AgentsParams{Profile: wire.LocalProfile, Query: q}).(*wire.AgentPage)
			for _, a := range got.Items {
				if a.WorkflowID != a.WorkflowName || a.WorkflowType != "local" || a.ID == 0 || !a.IsCompleted {
					t.Errorf("got %+v", a)
				}
				list = append(list, a.WorkflowID)
			}
			page = *got
			page.Items = nil
			return list, page
		}
		all := []string{"assistant", "slow", "broken", "panics"}
		for _, c := range []struct {
			query wire.AgentQuery
			want  []string
			page  wire.AgentPage
		}{
			{wire.AgentQuery{}, all, wire.AgentPage{Page: 1, PageSize: 24, TotalCount: 4, TotalPages: 1}},
			{wire.AgentQuery{Owner: "personal", Status: "active", IncludeHarness: true}, all, wire.AgentPage{Page: 1, PageSize: 24, TotalCount: 4, TotalPages: 1}},
			{wire.AgentQuery{Page: 2, PageSize: 3}, []string{"panics"}, wire.AgentPage{Page: 2, PageSize: 3, TotalCount: 4, TotalPages: 2}},
			{wire.AgentQuery{Page: 1 << 30, PageSize: 1 << 30}, nil, wire.AgentPage{Page: 1 << 30, PageSize: 1 << 30, TotalCount: 4, TotalPages: 1}},
			{wire.AgentQuery{Search: "S"}, []string{"assistant", "slow", "panics"}, wire.AgentPage{Page: 1, PageSize: 24, TotalCount: 3, TotalPages: 1}},
			{wire.AgentQuery{Owner: "shared"}, nil, wire.AgentPage{Page: 1, PageSize: 24}},
			{wire.AgentQuery{Status: "archived"}, nil, wire.AgentPage{Page: 1, PageSize: 24}},
			{wire.AgentQuery{Status: "active_or_draft", PageSize: 1}, all[:1], wire.AgentPage{Page: 1, PageSize: 1, TotalCount: 4, TotalPages: 4}},
		} {
			if list, page := names(c.query); !slices.Equal(list, c.want) || !reflect.DeepEqual(page, c.page) {
				t.Errorf("%+v: got %q, %+v", c.query, list, page)
			}
		}
	})
	inRPC(t, Options{Unconfigured: wire.NewFault(wire.CodeConfigMissing, "no file")}, func(w rpcWorld) {
		if code := codeOf(w.call("a", wire.MethodAgentsList, &wire.AgentsParams{Profile: wire.LocalProfile})); code != wire.CodeConfigMissing {
			t.Errorf("got %q", code)
		}
	})
}

func TestLocalHistory(t *testing.T) {
	inRPC(t, Options{}, func(w rpcWorld) {
		began := time.Date(2026, 3, 2, 8, 15, 0, 0, time.FixedZone("x", 3600))
		w.user.stored = []wire.Turn{{ID: 7, Agent: "assistant", Input: "a", Response: "b", Started: began}, {ID: 8, Agent: "slow"}}
		at := &wire.HistoryParams{Profile: wire.LocalProfile, WorkflowID: "Assistant", InteractionID: "s1"}
		turn := wire.HistoryTurn{LogID: 7, IOID: 7, InteractionID: "s1", WorkflowID: "assistant", WorkflowName: "assistant", Input: "a", Output: "b", Updated: "2026-03-02T07:15:00Z"}
		if got := w.call("a", wire.MethodTurns, at); !reflect.DeepEqual(got, &wire.TurnList{Items: []wire.HistoryTurn{turn}}) {
			t.Errorf("got %+v", got)
		}
		snapshot := func() *wire.Snapshot { return w.call("a", wire.MethodSnapshot, at).(*wire.Snapshot) }
		if got := snapshot(); got.Running || len(got.Turns) != 1 {
			t.Errorf("got %+v", got)
		}
		p := local("1h")
		p.InteractionID = "s1"
		w.start(p)
		if !snapshot().Running {
			t.Error("it doesn't tell of the turn that runs")
		}
		if got := w.call("a", wire.MethodConversations, &wire.ProfileParams{Profile: wire.LocalProfile}).(*wire.ConversationList); got.Items[0].InteractionID != "of default_user" {
			t.Errorf("got %+v", got)
		}
		w.user.unread = errors.New("the file is damaged; restore it")
		for method, params := range map[wire.Method]any{wire.MethodTurns: at, wire.MethodConversations: &wire.ProfileParams{Profile: wire.LocalProfile}} {
			if got := w.call("a", method, params); !reflect.DeepEqual(got, wire.NewFault(wire.CodeInternal, w.user.unread.Error())) {
				t.Errorf("got %+v", got)
			}
		}
	})
}

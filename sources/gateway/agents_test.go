package gateway

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"

	"sluice/internal/testkit/fakegateway"
	"sluice/internal/wire"
)

var (
	fullAgent = wire.AgentInfo{ID: 71, WorkflowID: "wf_abc", WorkflowName: "Sales Agent", NodeCount: 5, IsDeployed: true, IsCompleted: true, WorkflowType: "canvas",
		Description: "sells", Username: "ann", FullName: "Ann Example", Created: "2026-03-02T08:15:00", Updated: "2026-05-11T17:45:00"}
	bareAgent = wire.AgentInfo{ID: 72, WorkflowID: "wf_bare", WorkflowName: "Bare", WorkflowType: "canvas"}
)

func TestAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		page, err := w.account.Agents(t.Context(), wire.AgentQuery{})
		if err != nil || !reflect.DeepEqual(page.Items[:2], []wire.AgentInfo{fullAgent, bareAgent}) {
			t.Errorf("got %+v, %v", page, err)
		}
		if page.Page != 1 || page.PageSize != 24 || page.TotalCount != 29 || page.TotalPages != 2 || len(page.Items) != 24 {
			t.Errorf("got %d items, %+v", len(page.Items), page)
		}
		page, err = w.account.Agents(t.Context(), wire.AgentQuery{Page: 2, PageSize: 5, Search: "agent ", Status: "active", Owner: "shared", IncludeHarness: true})
		if err != nil || page.Page != 2 || len(page.Items) != 4 || !page.Items[0].IsShared {
			t.Errorf("got %+v, %v", page, err)
		}
		sent := w.Requests(fakegateway.PathAgents)
		for i, want := range []map[string]string{
			{"page": "1", "page_size": "24"},
			{"page": "2", "page_size": "5", "search": "agent ", "status": "active", "owner": "shared", "include_harness": "true"},
		} {
			if !reflect.DeepEqual(sent[i].Query, want) {
				t.Errorf("asked %v; want %v", sent[i].Query, want)
			}
		}
	})
}

func TestAgentsOfOlderGateways(t *testing.T) {
	const bare = `{"id":72,"workflow_id":"wf_bare","workflow_name":"Bare","is_shared":null,"workflow_type":null,"description":null}`
	for body, want := range map[string]wire.AgentPage{
		`{"items":[` + bare + `]}`: {Items: []wire.AgentInfo{bareAgent}, Page: 3, PageSize: 9, TotalCount: 1, TotalPages: 1},
		`{"workflows":[` + bare + `],"pagination":{"page":1,"page_size":2,"total_count":3,"total_pages":4}}`: {Items: []wire.AgentInfo{bareAgent}, Page: 1, PageSize: 2, TotalCount: 3, TotalPages: 4},
		`{}`: {Items: []wire.AgentInfo{}, Page: 3, PageSize: 9, TotalPages: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{}, true)
			w.Fail(fakegateway.PathAgents, fakegateway.Failure{Status: 200, Body: body})
			got, err := w.account.Agents(t.Context(), wire.AgentQuery{Page: 3, PageSize: 9})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v, %v", body, got, err)
			}
		})
	}
}

func TestFindWorkflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		for wanted, id := range map[string]string{
			"wf_29": "wf_29", "wf_abc": "wf_abc", "sales agent": "wf_abc", "AGENT 29": "wf_29", "Harness one": "wf_harness",
		} {
			if got, err := w.account.FindWorkflow(t.Context(), wanted); err != nil || got.WorkflowID != id {
				t.Errorf("%s: got %+v, %v", wanted, got, err)
			}
		}
		_, err := w.account.FindWorkflow(t.Context(), "nobody")
		wantFault(t, err, wire.CodeNotFound, 0, "agents/list")
		// An id counts before a name, whatever page it is on.
		w.SetAgents(append([]fakegateway.Object{{"id": 1, "workflow_id": "wf_1", "workflow_name": "WF_2"}}, many(60)...))
		if got, err := w.account.FindWorkflow(t.Context(), "wf_2"); err != nil || got.WorkflowName != "Agent 2" {
			t.Errorf("got %+v, %v", got, err)
		}
		w.Fail(fakegateway.PathAgents, fakegateway.Failure{Status: 500})
		_, err = w.account.FindWorkflow(t.Context(), "wf_2")
		wantFault(t, err, wire.CodeNetwork, 500)
	})
}

func TestFindWorkflowReadsAHundredPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{}, true)
		w.SetAgents(many(200 * 24))
		_, err := w.account.FindWorkflow(t.Context(), "nobody")
		wantFault(t, err, wire.CodeNotFound, 0)
		if n := len(w.Requests(fakegateway.PathAgents)); n != 100 {
			t.Errorf("asked %d times", n)
		}
	})
}

func many(n int) (list []fakegateway.Object) {
	for i := range n {
		list = append(list, fakegateway.Object{"id": i, "workflow_id": fmt.Sprintf("wf_%d", n-i), "workflow_name": fmt.Sprintf("Agent %d", n-i)})
	}
	return list
}

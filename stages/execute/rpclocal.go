package execute

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/internal/wire"
)

// defaultPageSize is how many agents a page holds where nobody says (xgen-gateway, section "Agents").
const defaultPageSize = 24

// localType is the workflowType of the agents of the profile local.
const localType = "local"

// localAgents lists the agents of the configuration: they are personal and active.
func (e *Execute) localAgents(q *wire.AgentQuery) (wire.Reply, error) {
	if e.options.Unconfigured != nil {
		return nil, e.options.Unconfigured
	}
	found := []wire.AgentInfo{}
	for i := range e.options.Agents {
		name := e.options.Agents[i].Name
		if strings.Contains(strings.ToLower(name), strings.ToLower(q.Search)) {
			found = append(found, wire.AgentInfo{ID: int64(i) + 1, WorkflowID: name, WorkflowName: name, IsCompleted: true, WorkflowType: localType})
		}
	}
	if q.Owner == "shared" || q.Status != "" && q.Status != "active" && q.Status != "active_or_draft" {
		found = nil
	}
	page, size := max(q.Page, 1), q.PageSize
	if size == 0 {
		size = defaultPageSize
	}
	answer := &wire.AgentPage{Page: int64(page), PageSize: int64(size), TotalCount: int64(len(found)), TotalPages: int64((len(found) + size - 1) / size)}
	from := min(int64(page-1)*int64(size), int64(len(found)))
	answer.Items = found[from:min(from+int64(size), int64(len(found)))]
	return answer, nil
}

// localAgent finds an agent of the configuration by name, else by a name that differs in case alone.
func (e *Execute) localAgent(wanted string) (*Agent, *wire.Fault) {
	if e.options.Unconfigured != nil {
		return nil, e.options.Unconfigured
	}
	agents := e.options.Agents
	at := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == wanted })
	if at < 0 {
		at = slices.IndexFunc(agents, func(a Agent) bool { return strings.EqualFold(a.Name, wanted) })
	}
	if at < 0 {
		return nil, wire.NewFault(wire.CodeNotFound, fmt.Sprintf("the configuration has no agent \"%.64s\"; agents/list shows those that it has", wanted))
	}
	return &agents[at], nil
}

func (e *Execute) localConversations(ctx context.Context) (wire.Reply, error) {
	list, err := e.options.RPC.Archive.Conversations(ctx, defaultUser)
	return &wire.ConversationList{Items: list}, unread(ctx, err)
}

// localHistory returns the turns that one agent had in a session.
func (e *Execute) localHistory(ctx context.Context, p *wire.HistoryParams) (wire.History, error) {
	turns, err := e.options.RPC.Archive.Turns(ctx, defaultUser, p.InteractionID)
	if err != nil {
		return wire.History{}, unread(ctx, err)
	}
	h := wire.History{Running: e.chats.hasSession(p.InteractionID)}
	for i := range turns {
		t := &turns[i]
		if !strings.EqualFold(t.Agent, p.WorkflowID) {
			continue
		}
		h.Turns = append(h.Turns, wire.HistoryTurn{
			LogID: t.ID, IOID: t.ID, InteractionID: p.InteractionID, WorkflowID: t.Agent, WorkflowName: t.Agent,
			Input: t.Input, Output: t.Response, Updated: t.Started.UTC().Format(time.RFC3339),
		})
	}
	return h, nil
}

// unread makes an error of the archive, which is meant for people, the answer to a request.
func unread(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return wire.NewFault(wire.CodeInternal, err.Error())
}

package gateway

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

const (
	// defaultPageSize is how many agents a page holds where nobody says.
	defaultPageSize = 24
	// maxPages bounds the search for an agent.
	maxPages = 100
)

// Agents returns one page of the list of agents.
func (a *Account) Agents(ctx context.Context, query wire.AgentQuery) (wire.AgentPage, error) {
	if query.Page < 1 {
		query.Page = 1
	}
	if query.PageSize < 1 {
		query.PageSize = defaultPageSize
	}
	result, err := a.get(ctx, agentsPath(query))
	if err != nil {
		return wire.AgentPage{}, err
	}
	return readAgents(result, query), nil
}

func agentsPath(query wire.AgentQuery) string {
	values := url.Values{"page": {strconv.Itoa(query.Page)}, "page_size": {strconv.Itoa(query.PageSize)}}
	for name, value := range map[string]string{"search": query.Search, "status": query.Status, "owner": query.Owner} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if query.IncludeHarness {
		values.Set("include_harness", "true")
	}
	return "/api/agentflow/list/detail?" + values.Encode()
}

func readAgents(result gjson.Result, query wire.AgentQuery) wire.AgentPage {
	list := result.Get("items")
	if !list.IsArray() {
		list = result.Get("workflows") // the older name
	}
	page := wire.AgentPage{Items: []wire.AgentInfo{}}
	for _, item := range list.Array() {
		page.Items = append(page.Items, readAgent(item))
	}
	pagination := result.Get("pagination")
	number := func(name string, missing int) int64 {
		if v := pagination.Get(name); v.Type == gjson.Number {
			return v.Int()
		}
		return int64(missing)
	}
	page.Page, page.PageSize = number("page", query.Page), number("page_size", query.PageSize)
	page.TotalCount, page.TotalPages = number("total_count", len(page.Items)), number("total_pages", 1)
	return page
}

func readAgent(item gjson.Result) wire.AgentInfo {
	text := func(name string) string { return textOf(item.Get(name)) }
	is := func(name string) bool { return item.Get(name).Type == gjson.True }
	agent := wire.AgentInfo{
		ID: item.Get("id").Int(), WorkflowID: text("workflow_id"), WorkflowName: text("workflow_name"),
		NodeCount: item.Get("node_count").Int(),
		IsShared:  is("is_shared"), IsDeployed: is("is_deployed"), IsCompleted: is("is_completed"),
		WorkflowType: text("workflow_type"), Description: text("description"),
		Username: text("username"), FullName: text("full_name"),
		Created: text("created_at"), Updated: text("updated_at"),
	}
	if agent.WorkflowType == "" {
		agent.WorkflowType = "canvas"
	}
	return agent
}

// FindWorkflow looks an agent up in the whole list, harnesses included: the one whose workflow id is
// wanted, else the first whose name is, without regard to case. None is a *wire.Fault not_found.
func (a *Account) FindWorkflow(ctx context.Context, wanted string) (wire.AgentInfo, error) {
	var named *wire.AgentInfo
	for number := 1; number <= maxPages; number++ {
		page, err := a.Agents(ctx, wire.AgentQuery{Page: number, IncludeHarness: true})
		if err != nil {
			return wire.AgentInfo{}, err
		}
		for i := range page.Items {
			agent := &page.Items[i]
			if agent.WorkflowID == wanted {
				return *agent, nil
			}
			if named == nil && strings.EqualFold(agent.WorkflowName, wanted) {
				named = agent
			}
		}
		if len(page.Items) == 0 || int64(number) >= page.TotalPages {
			break
		}
	}
	if named == nil {
		return wire.AgentInfo{}, wire.NewFault(wire.CodeNotFound, "the gateway has no such agent; agents/list shows those that this session may use")
	}
	return *named, nil
}

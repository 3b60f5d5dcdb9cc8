package gateway

import (
	"context"
	"net/url"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// Conversations returns the conversations of the session's user.
func (a *Account) Conversations(ctx context.Context) ([]wire.Conversation, error) {
	result, err := a.get(ctx, "/api/interaction/list")
	if err != nil {
		return nil, err
	}
	list := []wire.Conversation{}
	for _, item := range result.Get("execution_meta_list").Array() {
		list = append(list, readConversation(item))
	}
	return list, nil
}

func readConversation(item gjson.Result) wire.Conversation {
	text := func(name string) string { return textOf(item.Get(name)) }
	c := wire.Conversation{
		ID: item.Get("id").Int(), InteractionID: text("interaction_id"),
		WorkflowID: text("workflow_id"), WorkflowName: text("workflow_name"),
		InteractionCount: item.Get("interaction_count").Int(), Metadata: "{}",
		Created: text("created_at"), Updated: text("updated_at"),
	}
	if metadata := item.Get("metadata"); metadata.IsObject() {
		c.Metadata = metadata.Raw
	}
	return c
}

// IOLogs returns the turns of one conversation, and whether it has a run under way. workflowName may
// be empty.
func (a *Account) IOLogs(ctx context.Context, workflowID, workflowName, interactionID string) (wire.History, error) {
	values := url.Values{"workflow_id": {workflowID}, "interaction_id": {interactionID}}
	if workflowName != "" {
		values.Set("workflow_name", workflowName)
	}
	result, err := a.get(ctx, "/api/chat/io-logs?"+values.Encode())
	if err != nil {
		return wire.History{}, err
	}
	history := wire.History{Turns: []wire.HistoryTurn{}, Running: result.Get("running").Type == gjson.True}
	for _, item := range result.Get("in_out_logs").Array() {
		history.Turns = append(history.Turns, readTurn(item))
	}
	return history, nil
}

func readTurn(item gjson.Result) wire.HistoryTurn {
	text := func(name string) string { return textOf(item.Get(name)) }
	return wire.HistoryTurn{
		LogID: item.Get("log_id").Int(), IOID: item.Get("io_id").Int(), InteractionID: text("interaction_id"),
		WorkflowID: text("workflow_id"), WorkflowName: text("workflow_name"),
		Input: flatten(item.Get("input_data")), Output: flatten(item.Get("output_data")), Updated: text("updated_at"),
	}
}

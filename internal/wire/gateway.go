package wire

// The shapes of agents and history that JSON-RPC v1 shows, whoever they come from: a gateway, or the
// built-in profile local. Texts are plain and may hold any character; AppendString writes them.

// AgentQuery says which agents to list. Empty members leave the choice to the gateway.
type AgentQuery struct {
	// Page counts from 1; 0 means 1. PageSize is how many agents a page holds; 0 means 24.
	Page, PageSize int
	Search         string
	// Status is active, draft, unactive, active_or_draft or archived.
	Status string
	// Owner is personal or shared.
	Owner          string
	IncludeHarness bool
}

// AgentInfo is one agent of a list.
type AgentInfo struct {
	ID                                                int64
	WorkflowID, WorkflowName                          string
	NodeCount                                         int64
	IsShared, IsDeployed, IsCompleted                 bool
	WorkflowType                                      string
	Description, Username, FullName, Created, Updated string
}

// AgentPage is the answer of agents/list.
type AgentPage struct {
	Items                                  []AgentInfo
	Page, PageSize, TotalCount, TotalPages int64
}

// Conversation is one item of history/conversations.
type Conversation struct {
	ID                                      int64
	InteractionID, WorkflowID, WorkflowName string
	InteractionCount                        int64
	// Metadata is a JSON object as its owner wrote it; AppendObject writes it.
	Metadata         string
	Created, Updated string
}

// HistoryTurn is one item of history/turns.
type HistoryTurn struct {
	LogID, IOID                             int64
	InteractionID, WorkflowID, WorkflowName string
	Input, Output, Updated                  string
}

// History is the answer of history/snapshot; its turns alone are that of history/turns.
type History struct {
	Turns   []HistoryTurn
	Running bool
}

// StopReason says why a run was not stopped.
type StopReason string

// The reasons of chat/stop; the empty one means that the run was stopped.
const (
	StopDone       StopReason = ""
	StopNotRunning StopReason = "not_running"
	StopElsewhere  StopReason = "elsewhere"
	StopError      StopReason = "error"
)

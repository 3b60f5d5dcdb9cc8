package wire

// The replies that only JSON-RPC v1 has. *AgentPage, *AuthStatus and *Profile are replies, too.

// Handshake answers JSON-RPC's initialize.
type Handshake struct {
	ProtocolVersion int64
	ServerVersion   string
}

// Health answers health. ActiveChats are the streams without their terminal notification.
type Health struct{ ActiveChats int }

// ProfileList answers profile/list.
type ProfileList struct{ Items []Profile }

// LogoutDone answers auth/logout.
type LogoutDone struct{}

// ConversationList answers history/conversations.
type ConversationList struct{ Items []Conversation }

// TurnList answers history/turns.
type TurnList struct{ Items []HistoryTurn }

// Snapshot answers history/snapshot.
type Snapshot struct{ History }

// ChatStarted answers chat/start. Stream is the JSON text of the stream's id.
type ChatStarted struct {
	Stream                                  ID
	InteractionID, WorkflowID, WorkflowName string
}

// StopResult answers chat/stop: Cancelled says that a stream of ours was ended, Stopped that the run was.
type StopResult struct {
	Cancelled, Stopped bool
	Reason             StopReason // of a run that wasn't stopped
}

// ToolInfo is one local tool as hosts see it. Schema is a JSON object.
type ToolInfo struct{ Name, Description, Schema string }

// ToolList answers localTools/list.
type ToolList struct{ Items []ToolInfo }

// Bridge is the state of the connection over which a gateway calls local tools.
type Bridge struct {
	Running, Connected, CatalogSynced bool
	AdvertisedTools, ServerTools      int64
}

// ToolsStatus answers localTools/status, /configure, /start and /stop.
type ToolsStatus struct {
	Config LocalTools
	Tools  []ToolInfo
	Bridge Bridge
}

package wire

import (
	"fmt"
	"io"
)

// HandshakeParams are the params of JSON-RPC's initialize.
type HandshakeParams struct{ Version int64 }

// ProfileParams are the params of methods that take a profile and nothing else. Empty is the current one.
type ProfileParams struct{ Profile string }

// ProfileSetParams are the params of profile/set; profile/use has a name alone.
type ProfileSetParams struct{ Name, ServerURL string }

// LoginParams are the params of auth/login. Password is a secret, which is why they can't be printed.
type LoginParams struct{ Profile, Email, Password string }

// Format prints that something is hidden.
func (LoginParams) Format(s fmt.State, _ rune) { io.WriteString(s, "[hidden]") }

// AgentsParams are the params of agents/list.
type AgentsParams struct {
	Profile string
	Query   AgentQuery
}

// HistoryParams are the params of history/turns and history/snapshot; WorkflowName may be empty.
type HistoryParams struct{ Profile, WorkflowID, WorkflowName, InteractionID string }

// ChatStartParams are the params of chat/start.
type ChatStartParams struct {
	Profile, WorkflowID string
	// WorkflowName and InteractionID are empty where the host leaves them to us.
	WorkflowName, InteractionID string
	// Input is a JSON string, object or array, on one line; Text is what of it is text, where all of it is.
	Input, Text string
	IsText      bool
}

// RemoteChat is one message to an agent of a gateway.
type RemoteChat struct {
	WorkflowID, WorkflowName, InteractionID string
	// Input is as in ChatStartParams.
	Input string
}

// StreamParams are the params of chat/cancel and chat/stop. Stream is the JSON text of the stream's id, empty
// where chat/stop names the conversation instead.
type StreamParams struct {
	Stream                 ID
	Profile, InteractionID string
}

// ToolsConfigureParams are the params of localTools/configure.
type ToolsConfigureParams struct {
	Profile string
	Change  LocalToolsChange
}

// ToolsRunParams are the params of localTools/run. Args is a JSON object.
type ToolsRunParams struct{ Tool, Args string }

// ToolsStartParams are the params of localTools/start. WaitMS is how long the bridge is waited for.
type ToolsStartParams struct {
	Profile string
	WaitMS  int64
}

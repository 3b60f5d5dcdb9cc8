package wire

import "time"

// TurnStatus says how far a stored turn came.
type TurnStatus string

// The states of a turn. One that runs in no engine any more was interrupted.
const (
	TurnRunning   TurnStatus = "running"
	TurnDone      TurnStatus = "done"
	TurnAborted   TurnStatus = "aborted" // by loop_abort: it has a result, too
	TurnCancelled TurnStatus = "cancelled"
	TurnFailed    TurnStatus = "failed"
)

// Turn is one agent turn as a session keeps it. All texts are plain UTF-8.
type Turn struct {
	// ID is given by the session store, unique in its file and rising.
	ID             int64
	TraceID, Agent string
	Input          string
	Started        time.Time
	Status         TurnStatus
	// Response is set once the turn has ended.
	Response string
	Steps    []TurnStep
}

// TurnStep is one model step of a stored turn, with the calls that the model made in it.
type TurnStep struct {
	// Number counts from 0.
	Number int
	Text   string
	Calls  []TurnCall
}

// TurnCall is one tool call of a stored step.
type TurnCall struct {
	ToolCall
	// Tool is named server/tool.
	Tool string
	// Started says that the call was begun, in this or in another life of the engine; Result is nil
	// until it ended.
	Started bool
	Result  *ToolResult
}

// Snippet is a piece of a past turn that memory found.
type Snippet struct {
	Turn      int64 // the turn's ID
	SessionID string
	When      time.Time
	// Input and Response are the beginning of what the user wrote and of what was answered.
	Input, Response string
}

package wire

// Line is one raw request line as the source read it.
type Line struct {
	// Bytes is the line without its line end, borrowed until the batch's Push returns.
	Bytes []byte
	// TooLong says that the line was longer than the limit and was skipped; Bytes is then empty.
	TooLong bool
}

// Lines is the batch that sources/stdin emits: all lines that one read brought.
type Lines struct{ Items []Line }

// Method names a request's method after routing.
type Method uint8

// The methods of NDJSON v1, and the extension methods stats, warmup and approve.
const (
	MethodUnknown Method = iota
	MethodInitialize
	MethodPing
	MethodChat
	MethodCancel
	MethodShutdown
	MethodStats
	MethodWarmup
	MethodApprove
	MethodPlan
	MethodDoctor
)

// The methods that only JSON-RPC v1 has (section "Methods"); it shares shutdown and stats.
const (
	MethodHandshake Method = iota + 64 // its initialize
	MethodHealth
	MethodExit
	MethodProfileList
	MethodProfileSet
	MethodProfileUse
	MethodLogin
	MethodAuthStatus
	MethodLogout
	MethodAgentsList
	MethodConversations
	MethodTurns
	MethodSnapshot
	MethodChatStart
	MethodChatCancel
	MethodChatStop
	MethodToolsStatus
	MethodToolsList
	MethodToolsConfigure
	MethodToolsRun
	MethodToolsStart
	MethodToolsStop
)

// Request is one message of the host on its way through parse, validate and route.
type Request struct {
	// ID, Name (the method as the host wrote it) and RawParams (the JSON text of the params object,
	// empty when there are none) are views of the line, borrowed until the batch's Push returns:
	// strings.Clone what is kept.
	ID        ID
	Name      string
	RawParams string
	// Notification says that the message is one of JSON-RPC's: it is never answered, however wrong.
	Notification bool
	// Method is set by route.
	Method Method
	// Params is set by validate: one of *InitializeParams, *ChatParams, *CancelParams, *WarmupParams,
	// *ApproveParams, *PlanParams, *DoctorParams or those of JSON-RPC (rpcparams.go), or nil for a method without params. It holds
	// no borrowed bytes.
	Params any
	// Fault is set by the first stage that refuses the request; later stages pass it on as it is.
	Fault *Fault
	// Size is the length of the line in bytes, which is what the request costs while it waits.
	Size int
}

// Requests is the batch between parse and execute.
type Requests struct{ Items []Request }

// InitializeParams are the params of initialize.
type InitializeParams struct {
	// Versions are the protocol versions that the host speaks; nil when it left the param out.
	Versions []int64
	// Extensions are the names that the host asked for.
	Extensions []string
}

// ChatParams are the params of chat; zero values stand for the defaults of the protocol.
type ChatParams struct {
	UserID, SessionID, Agent, Input string
	Resume, ApproveExecution        bool
}

// CancelParams are the params of cancel. Target is the empty ID when request_id was omitted.
type CancelParams struct{ Target ID }

// WarmupParams are the params of warmup.
type WarmupParams struct{ Agent string }

// PlanParams are the params of plan.
type PlanParams struct{ Agent string }

// DoctorParams are the params of doctor.
type DoctorParams struct{ Agent string }

// Decision is a host's answer to tool_approval.
type Decision string

// The decisions: this call, this tool for the rest of the session, or not at all.
const (
	DecisionOnce    Decision = "once"
	DecisionSession Decision = "session"
	DecisionDeny    Decision = "deny"
)

// ApproveParams are the params of approve: all three must be given.
type ApproveParams struct {
	Target   ID
	CallID   string
	Decision Decision
}

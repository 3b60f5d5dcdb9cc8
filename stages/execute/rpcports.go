package execute

import (
	"context"
	"time"

	"sluice/internal/wire"
)

// RPC is what the methods of JSON-RPC work with. All of it must be set.
type RPC struct {
	Profiles Profiles
	Accounts Accounts
	Archive  Archive
}

// Profiles are the gateways that a user gave names, and the sessions at them. An empty name is the current
// profile; a wire.Profile is one that Resolve returned. passed is called, once, when what was asked for later
// may be looked at. Errors are *wire.Fault or the cause of ctx.
type Profiles interface {
	List() ([]wire.Profile, error)
	Set(ctx context.Context, name, serverURL string, passed func()) (wire.Profile, error)
	Use(ctx context.Context, name string) (wire.Profile, error)
	Resolve(name string) (wire.Profile, error)
	Login(ctx context.Context, profile wire.Profile, email, password string, passed func()) (wire.AuthStatus, error)
	Status(ctx context.Context, profile wire.Profile) (wire.AuthStatus, error)
	Logout(ctx context.Context, profile wire.Profile, passed func()) error
	LocalTools() (wire.LocalTools, error)
	Configure(ctx context.Context, change wire.LocalToolsChange) (wire.LocalTools, error)
}

// Accounts gives access to gateways.
type Accounts interface {
	// Account returns the user's account at the gateway of a profile that Resolve returned, not the built-in one.
	Account(profile wire.Profile) Account
}

// Account is a session at a gateway. Errors are *wire.Fault or the cause of ctx.
type Account interface {
	// SignedIn fails where no session is stored; it asks no gateway.
	SignedIn(ctx context.Context) error
	Agents(ctx context.Context, query wire.AgentQuery) (wire.AgentPage, error)
	// FindWorkflow looks an agent up by its id, else by its name.
	FindWorkflow(ctx context.Context, wanted string) (wire.AgentInfo, error)
	Conversations(ctx context.Context) ([]wire.Conversation, error)
	// IOLogs returns the turns of a conversation; workflowName may be empty.
	IOLogs(ctx context.Context, workflowID, workflowName, interactionID string) (wire.History, error)
	// StopRun ends what runs for a conversation.
	StopRun(ctx context.Context, interactionID string) (wire.StopReason, error)
	// Chat returns a chat that is not yet sent.
	Chat(chat wire.RemoteChat) Run
}

// Run is a chat at a gateway. Pipeline knows how to stream it.
type Run interface {
	// Upstream is the time spent waiting for the gateway.
	Upstream() time.Duration
}

// Archive reads what is stored of past chats. Errors say what to do, or are the cause of ctx.
type Archive interface {
	// Conversations lists the sessions of a user, the one used last first.
	Conversations(ctx context.Context, user string) ([]wire.Conversation, error)
	// Turns returns the turns of one session, oldest first.
	Turns(ctx context.Context, user, session string) ([]wire.Turn, error)
}

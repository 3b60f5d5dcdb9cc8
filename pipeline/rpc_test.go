package pipeline

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/reugn/go-streams"

	"sluice/internal/wire"
	"sluice/stages/execute"
)

// rpc makes an engine one of JSON-RPC, whose user has the profiles corp and out besides local. Nobody is
// signed in at out.
func rpc(o *Options) {
	o.Protocol = JSONRPC(testLineBytes, false)
	u := &scriptedUser{current: "corp"}
	o.Execute.RPC = &execute.RPC{Profiles: u, Accounts: u, Archive: u}
}

// scriptedUser is a user whose profiles all have the same gateway, which takes a second for everything.
type scriptedUser struct {
	mu      sync.Mutex
	current string
	tools   wire.LocalTools
}

// List implements execute.Profiles.
func (u *scriptedUser) List() ([]wire.Profile, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return []wire.Profile{{Name: "corp", ServerURL: "https://corp", Current: u.current == "corp"}}, nil
}

// Set implements execute.Profiles.
func (u *scriptedUser) Set(context.Context, string, string, func()) (wire.Profile, error) {
	return wire.Profile{}, wire.NewFault(wire.CodeConfigInvalid, "the file is damaged")
}

// Use implements execute.Profiles.
func (u *scriptedUser) Use(_ context.Context, name string) (wire.Profile, error) {
	u.mu.Lock()
	u.current = name
	u.mu.Unlock()
	return u.Resolve(name)
}

// Resolve implements execute.Profiles.
func (u *scriptedUser) Resolve(name string) (wire.Profile, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch name = cmp.Or(name, u.current); name {
	case "corp", "out":
		return wire.Profile{Name: name, ServerURL: "https://" + name, Current: u.current == name}, nil
	case wire.LocalProfile:
		return wire.Profile{Name: name, ServerURL: wire.LocalServerURL, Current: u.current == name}, nil
	}
	return wire.Profile{}, wire.NewFault(wire.CodeNotFound, "there is no such profile")
}

// Login implements execute.Profiles.
func (u *scriptedUser) Login(ctx context.Context, p wire.Profile, _, password string, passed func()) (wire.AuthStatus, error) {
	passed()
	if err := pause(ctx, time.Second); err != nil {
		return wire.AuthStatus{}, err
	}
	if password != "right" {
		return wire.AuthStatus{}, &wire.Fault{Code: wire.CodeAuthInvalid, Message: "wrong email or password", Status: 401}
	}
	return wire.AuthStatus{Profile: p.Name, ServerURL: p.ServerURL, Authenticated: true, User: &wire.AuthUser{UserID: "1", Username: "ann"}}, nil
}

// Status implements execute.Profiles.
func (u *scriptedUser) Status(_ context.Context, p wire.Profile) (wire.AuthStatus, error) {
	return wire.AuthStatus{Profile: p.Name, Authenticated: p.Local(), Reason: map[string]wire.AuthReason{"out": wire.AuthMissingSession}[p.Name]}, nil
}

// Logout implements execute.Profiles.
func (u *scriptedUser) Logout(context.Context, wire.Profile, func()) error { return nil }

// LocalTools implements execute.Profiles.
func (u *scriptedUser) LocalTools() (wire.LocalTools, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.tools, nil
}

// Configure implements execute.Profiles.
func (u *scriptedUser) Configure(_ context.Context, change wire.LocalToolsChange) (wire.LocalTools, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tools.Enabled, u.tools.AllowedRoots = *change.Enabled, change.AllowedRoots
	return u.tools, nil
}

// Conversations implements execute.Archive.
func (u *scriptedUser) Conversations(context.Context, string) ([]wire.Conversation, error) {
	return []wire.Conversation{{ID: 1, InteractionID: "c1", WorkflowID: "assistant", InteractionCount: 1}}, nil
}

// Turns implements execute.Archive.
func (u *scriptedUser) Turns(context.Context, string, string) ([]wire.Turn, error) {
	return []wire.Turn{{ID: 1, Agent: "assistant", Input: "a", Response: "b", Started: time.Unix(0, 0)}}, nil
}

// Account implements execute.Accounts.
func (u *scriptedUser) Account(p wire.Profile) execute.Account { return scriptedAccount{p.Name} }

type scriptedAccount struct{ profile string }

// SignedIn implements execute.Account.
func (a scriptedAccount) SignedIn(context.Context) error {
	if a.profile == "out" {
		return wire.NewFault(wire.CodeAuthRequired, "sign in first")
	}
	return nil
}

// Agents implements execute.Account.
func (a scriptedAccount) Agents(ctx context.Context, q wire.AgentQuery) (wire.AgentPage, error) {
	return wire.AgentPage{Page: 1, PageSize: 24}, pause(ctx, time.Second)
}

// FindWorkflow implements execute.Account.
func (a scriptedAccount) FindWorkflow(ctx context.Context, wanted string) (wire.AgentInfo, error) {
	if err := pause(ctx, time.Second); err != nil {
		return wire.AgentInfo{}, err
	}
	if wanted == "nobody" {
		return wire.AgentInfo{}, wire.NewFault(wire.CodeNotFound, "there is no such agent")
	}
	return wire.AgentInfo{WorkflowID: wanted, WorkflowName: "Sales"}, nil
}

// Conversations implements execute.Account.
func (a scriptedAccount) Conversations(ctx context.Context) ([]wire.Conversation, error) {
	return nil, pause(ctx, time.Second)
}

// IOLogs implements execute.Account.
func (a scriptedAccount) IOLogs(context.Context, string, string, string) (wire.History, error) {
	return wire.History{}, &wire.Fault{Code: wire.CodeNetwork, Message: "the gateway said 503", Status: 503}
}

// StopRun implements execute.Account.
func (a scriptedAccount) StopRun(ctx context.Context, interactionID string) (wire.StopReason, error) {
	if err := pause(ctx, time.Second); err != nil {
		return wire.StopError, err
	}
	if interactionID == "elsewhere" {
		return wire.StopElsewhere, nil
	}
	return wire.StopDone, nil
}

// Chat implements execute.Account.
func (a scriptedAccount) Chat(chat wire.RemoteChat) execute.Run {
	return &scriptedRun{script: strings.Trim(chat.Input, `"`)}
}

// scriptedRun is a gateway's stream of one batch a second, a word of the script each: tokens joined by "+", of
// which LOG is an event with a line separator in it and END the one that ends a stream. FAIL is a lost
// connection, HANG waits to be cancelled. What is cancelled takes closeTime to end.
type scriptedRun struct {
	script string
	next   wire.Stage
}

// Via implements streams.Source.
func (r *scriptedRun) Via(flow streams.Flow) streams.Flow {
	r.next = wire.Downstream(flow)
	return flow
}

// Out implements streams.Source.
func (r *scriptedRun) Out() <-chan any {
	out := make(chan any)
	r.next = wire.ToChannel(out)
	return out
}

// Upstream implements TokenSource.
func (r *scriptedRun) Upstream() time.Duration { return time.Second }

// Run implements Source.
func (r *scriptedRun) Run(ctx context.Context) error {
	cause := r.run(ctx)
	r.next.Done(cause)
	return cause
}

func (r *scriptedRun) run(ctx context.Context) error {
	for word := range strings.FieldsSeq(r.script) {
		if err := pause(ctx, time.Second); err != nil {
			time.Sleep(closeTime)
			return err
		}
		switch word {
		case "FAIL":
			return wire.NewFault(wire.CodeNetwork, "the connection was lost")
		case "HANG":
			<-ctx.Done()
			time.Sleep(closeTime)
			return context.Cause(ctx)
		}
		if err := r.next.Push(ctx, gatewayTokens(word)); err != nil {
			return err
		}
	}
	return nil
}

func gatewayTokens(word string) *wire.Tokens {
	batch := &wire.Tokens{}
	for piece := range strings.SplitSeq(word, "+") {
		token := wire.Token{Kind: wire.TokenContent, Raw: []byte(piece)}
		switch piece {
		case "LOG":
			token = wire.Token{Kind: wire.TokenFrame, Raw: []byte("{ \"kind\": \"log\", \"data\": \"\u2028\" }")}
		case "END":
			token = wire.Token{Kind: wire.TokenFrame, Raw: []byte(`{"kind":"end"}`)}
		}
		batch.Items = append(batch.Items, token)
	}
	return batch
}

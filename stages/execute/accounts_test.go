package execute

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/wire"
)

// user is a user of JSON-RPC: profiles, gateways and what is stored. What the gateways do is in the names:
// the profile out has no session; the agent slow takes a minute to be found, nobody isn't; a chat does what
// its input says; the run of the conversation none doesn't run, that of denied can't be asked for.
type user struct {
	mu       sync.Mutex
	profiles []wire.Profile
	current  string
	tools    wire.LocalTools
	slow     time.Duration  // that a change takes before the file is written
	frozen   time.Duration  // that the keychain takes
	asked    []wire.Profile // by Login, Status and Logout
	stopTime time.Duration  // that StopRun takes
	broken   bool           // Resolve panics
	stopped  []string       // conversations of StopRun
	chats    []wire.RemoteChat
	stored   []wire.Turn
	unread   error // of the archive
}

func newUser() *user {
	return &user{current: "corp", profiles: []wire.Profile{{Name: "corp", ServerURL: "https://corp"}, {Name: "out", ServerURL: "https://out"}, {Name: "locked"}}}
}

func (u *user) rpc() *RPC { return &RPC{Profiles: u, Accounts: u, Archive: u} }

// List implements Profiles.
func (u *user) List() ([]wire.Profile, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]wire.Profile{}, u.profiles...), nil
}

// Set implements Profiles.
func (u *user) Set(ctx context.Context, name, serverURL string, passed func()) (wire.Profile, error) {
	if err := sleep(ctx, u.slow); err != nil {
		return wire.Profile{}, err
	}
	p := wire.Profile{Name: name, ServerURL: serverURL}
	u.mu.Lock()
	u.profiles = slices.DeleteFunc(u.profiles, func(p wire.Profile) bool { return p.Name == name })
	u.profiles = append(u.profiles, p)
	u.mu.Unlock()
	passed()
	return p, sleep(ctx, u.frozen)
}

// Use implements Profiles.
func (u *user) Use(_ context.Context, name string) (wire.Profile, error) {
	p, err := u.Resolve(name)
	if err == nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.current = name
	}
	return p, err
}

// Resolve implements Profiles.
func (u *user) Resolve(name string) (wire.Profile, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.broken {
		panic("told to")
	}
	if name == "" {
		name = u.current
	}
	if name == wire.LocalProfile {
		return wire.Profile{Name: name, ServerURL: wire.LocalServerURL}, nil
	}
	for _, p := range u.profiles {
		if p.Name == name {
			return p, nil
		}
	}
	return wire.Profile{}, wire.NewFault(wire.CodeNotFound, "no such profile")
}

// Login implements Profiles.
func (u *user) Login(ctx context.Context, profile wire.Profile, email, password string, passed func()) (wire.AuthStatus, error) {
	u.ask(profile)
	passed()
	if err := sleep(ctx, time.Minute); err != nil {
		return wire.AuthStatus{}, err
	}
	return wire.AuthStatus{Profile: profile.Name, Authenticated: email+password == "ab"}, nil
}

// Status implements Profiles.
func (u *user) Status(_ context.Context, profile wire.Profile) (wire.AuthStatus, error) {
	u.ask(profile)
	return wire.AuthStatus{Reason: wire.AuthNetwork}, nil
}

// Logout implements Profiles.
func (u *user) Logout(ctx context.Context, profile wire.Profile, passed func()) error {
	u.ask(profile)
	passed()
	if err := sleep(ctx, u.frozen); err != nil {
		return err
	}
	if profile.Name == "locked" {
		return wire.NewFault(wire.CodeCredentialStore, "it is locked")
	}
	return nil
}

func (u *user) ask(profile wire.Profile) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, profile)
}

// LocalTools implements Profiles.
func (u *user) LocalTools() (wire.LocalTools, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.tools, nil
}

// Configure implements Profiles.
func (u *user) Configure(_ context.Context, change wire.LocalToolsChange) (wire.LocalTools, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tools.Enabled = *change.Enabled
	return u.tools, nil
}

// Account implements Accounts.
func (u *user) Account(p wire.Profile) Account { return &fakeAccount{u, p} }

// Conversations implements Archive.
func (u *user) Conversations(_ context.Context, name string) ([]wire.Conversation, error) {
	return []wire.Conversation{{InteractionID: "of " + name}}, u.unread
}

// Turns implements Archive.
func (u *user) Turns(_ context.Context, name, session string) ([]wire.Turn, error) {
	if name != defaultUser || session != "s1" {
		return nil, u.unread
	}
	return u.stored, u.unread
}

type fakeAccount struct {
	user    *user
	profile wire.Profile
}

// SignedIn implements Account.
func (a *fakeAccount) SignedIn(context.Context) error {
	if a.profile.Name == "out" {
		return wire.NewFault(wire.CodeAuthRequired, "sign in first")
	}
	return nil
}

// Agents implements Account.
func (a *fakeAccount) Agents(_ context.Context, q wire.AgentQuery) (wire.AgentPage, error) {
	return wire.AgentPage{Page: int64(q.Page), Items: []wire.AgentInfo{{WorkflowID: a.profile.ServerURL}}}, nil
}

// FindWorkflow implements Account.
func (a *fakeAccount) FindWorkflow(ctx context.Context, wanted string) (wire.AgentInfo, error) {
	switch wanted {
	case "slow":
		if err := sleep(ctx, time.Minute); err != nil {
			return wire.AgentInfo{}, err
		}
	case "nobody":
		return wire.AgentInfo{}, wire.NewFault(wire.CodeNotFound, "no such agent")
	}
	return wire.AgentInfo{WorkflowID: "found " + wanted, WorkflowName: "Found"}, nil
}

// Conversations implements Account.
func (a *fakeAccount) Conversations(context.Context) ([]wire.Conversation, error) {
	return []wire.Conversation{{InteractionID: a.profile.ServerURL}}, nil
}

// IOLogs implements Account.
func (a *fakeAccount) IOLogs(_ context.Context, workflowID, workflowName, interactionID string) (wire.History, error) {
	return wire.History{Turns: []wire.HistoryTurn{{WorkflowID: workflowID, WorkflowName: workflowName, InteractionID: interactionID}}, Running: true}, nil
}

// StopRun implements Account.
func (a *fakeAccount) StopRun(ctx context.Context, interactionID string) (wire.StopReason, error) {
	if err := sleep(ctx, a.user.stopTime); err != nil {
		return wire.StopError, err
	}
	a.user.mu.Lock()
	defer a.user.mu.Unlock()
	a.user.stopped = append(a.user.stopped, a.profile.Name+" "+interactionID)
	switch interactionID {
	case "none":
		return wire.StopNotRunning, nil
	case "denied":
		return wire.StopError, wire.NewFault(wire.CodeAuthRequired, "sign in first")
	}
	return wire.StopDone, nil
}

// Chat implements Account.
func (a *fakeAccount) Chat(chat wire.RemoteChat) Run {
	a.user.mu.Lock()
	defer a.user.mu.Unlock()
	a.user.chats = append(a.user.chats, chat)
	return &fakeRun{strings.Trim(chat.Input, `"`)}
}

// fakeRun is a run of a gateway that does what its input says.
type fakeRun struct{ input string }

// Upstream implements Run.
func (*fakeRun) Upstream() time.Duration { return 0 }

func (r *fakeRun) play(ctx context.Context, tokens func(int64)) (Outcome, error) {
	tokens(2)
	switch r.input {
	case "fail":
		return Outcome{}, &wire.Fault{Code: wire.CodeNetwork, Message: "it broke off", Status: 502}
	case "panic":
		panic("told to")
	}
	long, _ := time.ParseDuration(r.input)
	return Outcome{FirstToken: time.Now(), Upstream: long}, sleep(ctx, long)
}

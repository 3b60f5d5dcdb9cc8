package execute

import (
	"context"

	"sluice/internal/wire"
)

func (e *Execute) profileList(context.Context, any) (wire.Reply, error) {
	list, err := e.options.RPC.Profiles.List()
	return &wire.ProfileList{Items: list}, err
}

func (e *Execute) profileSet(ctx context.Context, params any) (wire.Reply, error) {
	p := params.(*wire.ProfileSetParams)
	profile, err := e.options.RPC.Profiles.Set(ctx, p.Name, p.ServerURL)
	return &profile, err
}

func (e *Execute) profileUse(ctx context.Context, params any) (wire.Reply, error) {
	profile, err := e.options.RPC.Profiles.Use(ctx, params.(*wire.ProfileParams).Profile)
	return &profile, err
}

func (e *Execute) login(ctx context.Context, params any) (wire.Reply, error) {
	p := params.(*wire.LoginParams)
	status, err := e.options.RPC.Profiles.Login(ctx, p.Profile, p.Email, p.Password)
	return &status, err
}

func (e *Execute) authStatus(ctx context.Context, params any) (wire.Reply, error) {
	status, err := e.options.RPC.Profiles.Status(ctx, params.(*wire.ProfileParams).Profile)
	return &status, err
}

func (e *Execute) logout(ctx context.Context, params any) (wire.Reply, error) {
	return &wire.LogoutDone{}, e.options.RPC.Profiles.Logout(ctx, params.(*wire.ProfileParams).Profile)
}

// account returns the account of a profile, nil for the built-in one, which needs none.
func (e *Execute) account(name string) (Account, error) {
	profile, err := e.options.RPC.Profiles.Resolve(name)
	if err != nil || profile.Local() {
		return nil, err
	}
	return e.options.RPC.Accounts.Account(profile), nil
}

func (e *Execute) agentsList(ctx context.Context, params any) (wire.Reply, error) {
	p := params.(*wire.AgentsParams)
	account, err := e.account(p.Profile)
	switch {
	case err != nil:
		return nil, err
	case account == nil:
		return e.localAgents(&p.Query)
	}
	page, err := account.Agents(ctx, p.Query)
	return &page, err
}

func (e *Execute) conversations(ctx context.Context, params any) (wire.Reply, error) {
	account, err := e.account(params.(*wire.ProfileParams).Profile)
	var list []wire.Conversation
	switch {
	case err != nil:
		return nil, err
	case account == nil:
		list, err = e.localConversations(ctx)
	default:
		list, err = account.Conversations(ctx)
	}
	return &wire.ConversationList{Items: list}, err
}

func (e *Execute) turns(ctx context.Context, params any) (wire.Reply, error) {
	h, err := e.history(ctx, params.(*wire.HistoryParams))
	return &wire.TurnList{Items: h.Turns}, err
}

func (e *Execute) snapshot(ctx context.Context, params any) (wire.Reply, error) {
	h, err := e.history(ctx, params.(*wire.HistoryParams))
	return &wire.Snapshot{History: h}, err
}

func (e *Execute) history(ctx context.Context, p *wire.HistoryParams) (wire.History, error) {
	account, err := e.account(p.Profile)
	switch {
	case err != nil:
		return wire.History{}, err
	case account == nil:
		return e.localHistory(ctx, p)
	}
	return account.IOLogs(ctx, p.WorkflowID, p.WorkflowName, p.InteractionID)
}

func (e *Execute) toolsStatus(context.Context, any) (wire.Reply, error) {
	config, err := e.options.RPC.Profiles.LocalTools()
	return &wire.ToolsStatus{Config: config}, err
}

func (e *Execute) toolsList(context.Context, any) (wire.Reply, error) { return &wire.ToolList{}, nil }

func (e *Execute) toolsConfigure(ctx context.Context, params any) (wire.Reply, error) {
	config, err := e.options.RPC.Profiles.Configure(ctx, params.(*wire.ToolsConfigureParams).Change)
	return &wire.ToolsStatus{Config: config}, err
}

func (e *Execute) toolsOff(context.Context, any) (wire.Reply, error) {
	return nil, wire.NewFault(wire.CodeLocalToolsDisabled, "local tools are not available in this build; go on without them")
}

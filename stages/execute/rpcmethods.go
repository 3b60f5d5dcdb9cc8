package execute

import (
	"context"

	"sluice/internal/wire"
)

func (e *Execute) profileList(context.Context, wire.Profile, any) (wire.Reply, error) {
	list, err := e.options.RPC.Profiles.List()
	return &wire.ProfileList{Items: list}, err
}

func (e *Execute) profileSet(ctx context.Context, _ wire.Profile, params any, pass func()) (wire.Reply, error) {
	p := params.(*wire.ProfileSetParams)
	set, err := e.options.RPC.Profiles.Set(ctx, p.Name, p.ServerURL, pass)
	return &set, err
}

func (e *Execute) profileUse(ctx context.Context, _ wire.Profile, params any) (wire.Reply, error) {
	used, err := e.options.RPC.Profiles.Use(ctx, params.(*wire.ProfileParams).Profile)
	return &used, err
}

func (e *Execute) login(ctx context.Context, profile wire.Profile, params any, pass func()) (wire.Reply, error) {
	p := params.(*wire.LoginParams)
	status, err := e.options.RPC.Profiles.Login(ctx, profile, p.Email, p.Password, pass)
	return &status, err
}

func (e *Execute) authStatus(ctx context.Context, profile wire.Profile, _ any) (wire.Reply, error) {
	status, err := e.options.RPC.Profiles.Status(ctx, profile)
	return &status, err
}

func (e *Execute) logout(ctx context.Context, profile wire.Profile, _ any, pass func()) (wire.Reply, error) {
	return &wire.LogoutDone{}, e.options.RPC.Profiles.Logout(ctx, profile, pass)
}

func (e *Execute) agentsList(ctx context.Context, profile wire.Profile, params any) (wire.Reply, error) {
	p := params.(*wire.AgentsParams)
	if profile.Local() {
		return e.localAgents(&p.Query)
	}
	page, err := e.options.RPC.Accounts.Account(profile).Agents(ctx, p.Query)
	return &page, err
}

func (e *Execute) conversations(ctx context.Context, profile wire.Profile, _ any) (wire.Reply, error) {
	if profile.Local() {
		return e.localConversations(ctx)
	}
	list, err := e.options.RPC.Accounts.Account(profile).Conversations(ctx)
	return &wire.ConversationList{Items: list}, err
}

func (e *Execute) turns(ctx context.Context, profile wire.Profile, params any) (wire.Reply, error) {
	h, err := e.history(ctx, profile, params.(*wire.HistoryParams))
	return &wire.TurnList{Items: h.Turns}, err
}

func (e *Execute) snapshot(ctx context.Context, profile wire.Profile, params any) (wire.Reply, error) {
	h, err := e.history(ctx, profile, params.(*wire.HistoryParams))
	return &wire.Snapshot{History: h}, err
}

func (e *Execute) history(ctx context.Context, profile wire.Profile, p *wire.HistoryParams) (wire.History, error) {
	if profile.Local() {
		return e.localHistory(ctx, p)
	}
	return e.options.RPC.Accounts.Account(profile).IOLogs(ctx, p.WorkflowID, p.WorkflowName, p.InteractionID)
}

func (e *Execute) toolsStatus(context.Context, wire.Profile, any) (wire.Reply, error) {
	config, err := e.options.RPC.Profiles.LocalTools()
	return &wire.ToolsStatus{Config: config}, err
}

func (e *Execute) toolsList(context.Context, wire.Profile, any) (wire.Reply, error) {
	return &wire.ToolList{}, nil
}

func (e *Execute) toolsConfigure(ctx context.Context, _ wire.Profile, params any) (wire.Reply, error) {
	config, err := e.options.RPC.Profiles.Configure(ctx, params.(*wire.ToolsConfigureParams).Change)
	return &wire.ToolsStatus{Config: config}, err
}

func (e *Execute) toolsOff(context.Context, wire.Profile, any) (wire.Reply, error) {
	return nil, wire.NewFault(wire.CodeLocalToolsDisabled, "local tools are not available in this build; go on without them")
}

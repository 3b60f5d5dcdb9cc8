package encode

import "sluice/internal/wire"

func (p JSONRPC) profile(dst []byte, r *wire.Profile) []byte {
	dst = p.member(dst, `{"name":`, r.Name)
	dst = p.member(dst, `,"serverUrl":`, r.ServerURL)
	return append(wire.AppendBool(append(dst, `,"current":`...), r.Current), '}')
}

func (p JSONRPC) authStatus(dst []byte, r *wire.AuthStatus) []byte {
	dst = p.member(dst, `{"profile":`, r.Profile)
	dst = p.member(dst, `,"serverUrl":`, r.ServerURL)
	dst = wire.AppendBool(append(dst, `,"authenticated":`...), r.Authenticated)
	if r.User != nil {
		dst = p.user(append(dst, `,"user":`...), r.User)
	}
	if r.Reason != wire.AuthHolds {
		dst = p.member(dst, `,"reason":`, string(r.Reason))
	}
	return append(dst, '}')
}

func (p JSONRPC) user(dst []byte, u *wire.AuthUser) []byte {
	dst = p.member(dst, `{"userId":`, u.UserID)
	dst = p.member(dst, `,"username":`, u.Username)
	dst = wire.AppendBool(append(dst, `,"isSuperuser":`...), u.IsSuperuser)
	dst = p.strings(append(dst, `,"roles":`...), u.Roles)
	return append(p.strings(append(dst, `,"permissions":`...), u.Permissions), '}')
}

func (p JSONRPC) strings(dst []byte, items []string) []byte {
	return NDJSON(p).strings(dst, items)
}

func (p JSONRPC) agentPage(dst []byte, r *wire.AgentPage) []byte {
	dst = list(append(dst, `{"items":`...), r.Items, p.agent)
	dst = wire.AppendInt(append(dst, `,"pagination":{"page":`...), r.Page)
	dst = wire.AppendInt(append(dst, `,"pageSize":`...), r.PageSize)
	dst = wire.AppendInt(append(dst, `,"totalCount":`...), r.TotalCount)
	return append(wire.AppendInt(append(dst, `,"totalPages":`...), r.TotalPages), "}}"...)
}

func (p JSONRPC) agent(dst []byte, a *wire.AgentInfo) []byte {
	dst = wire.AppendInt(append(dst, `{"id":`...), a.ID)
	dst = p.member(dst, `,"workflowId":`, a.WorkflowID)
	dst = p.member(dst, `,"workflowName":`, a.WorkflowName)
	dst = wire.AppendInt(append(dst, `,"nodeCount":`...), a.NodeCount)
	dst = wire.AppendBool(append(dst, `,"isShared":`...), a.IsShared)
	dst = wire.AppendBool(append(dst, `,"isDeployed":`...), a.IsDeployed)
	dst = wire.AppendBool(append(dst, `,"isCompleted":`...), a.IsCompleted)
	dst = p.member(dst, `,"workflowType":`, a.WorkflowType)
	dst = p.member(dst, `,"description":`, a.Description)
	dst = p.member(dst, `,"username":`, a.Username)
	dst = p.member(dst, `,"fullName":`, a.FullName)
	dst = p.member(dst, `,"createdAt":`, a.Created)
	return append(p.member(dst, `,"updatedAt":`, a.Updated), '}')
}

func (p JSONRPC) conversation(dst []byte, c *wire.Conversation) []byte {
	dst = wire.AppendInt(append(dst, `{"id":`...), c.ID)
	dst = p.member(dst, `,"interactionId":`, c.InteractionID)
	dst = p.member(dst, `,"workflowId":`, c.WorkflowID)
	dst = p.member(dst, `,"workflowName":`, c.WorkflowName)
	dst = wire.AppendInt(append(dst, `,"interactionCount":`...), c.InteractionCount)
	dst = wire.AppendObject(append(dst, `,"metadata":`...), c.Metadata, p.ASCII)
	dst = p.member(dst, `,"createdAt":`, c.Created)
	return append(p.member(dst, `,"updatedAt":`, c.Updated), '}')
}

func (p JSONRPC) turn(dst []byte, t *wire.HistoryTurn) []byte {
	dst = wire.AppendInt(append(dst, `{"logId":`...), t.LogID)
	dst = wire.AppendInt(append(dst, `,"ioId":`...), t.IOID)
	dst = p.member(dst, `,"interactionId":`, t.InteractionID)
	dst = p.member(dst, `,"workflowId":`, t.WorkflowID)
	dst = p.member(dst, `,"workflowName":`, t.WorkflowName)
	dst = p.member(dst, `,"input":`, t.Input)
	dst = p.member(dst, `,"output":`, t.Output)
	return append(p.member(dst, `,"updatedAt":`, t.Updated), '}')
}

func (p JSONRPC) tool(dst []byte, t *wire.ToolInfo) []byte {
	dst = p.member(dst, `{"name":`, t.Name)
	dst = p.member(dst, `,"description":`, t.Description)
	return append(wire.AppendObject(append(dst, `,"inputSchema":`...), t.Schema, p.ASCII), '}')
}

func (p JSONRPC) toolsStatus(dst []byte, r *wire.ToolsStatus) []byte {
	c := &r.Config
	dst = wire.AppendBool(append(dst, `{"config":{"enabled":`...), c.Enabled)
	dst = p.member(dst, `,"cwd":`, c.CWD)
	dst = wire.AppendInt(append(dst, `,"timeoutMs":`...), c.TimeoutMS)
	dst = p.strings(append(dst, `,"allowedRoots":`...), c.AllowedRoots)
	dst = p.strings(append(dst, `,"blockedCommands":`...), c.BlockedCommands)
	dst = wire.AppendBool(append(dst, `,"allowDangerous":`...), c.AllowDangerous)
	dst = list(append(dst, `},"tools":`...), r.Tools, p.tool)
	return append(bridge(append(dst, `,"bridge":`...), &r.Bridge), '}')
}

func bridge(dst []byte, b *wire.Bridge) []byte {
	dst = wire.AppendBool(append(dst, `{"running":`...), b.Running)
	dst = wire.AppendBool(append(dst, `,"connected":`...), b.Connected)
	dst = wire.AppendBool(append(dst, `,"catalogSynced":`...), b.CatalogSynced)
	dst = wire.AppendInt(append(dst, `,"advertisedTools":`...), b.AdvertisedTools)
	return append(wire.AppendInt(append(dst, `,"serverTools":`...), b.ServerTools), '}')
}

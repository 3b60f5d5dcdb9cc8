package route

import "sluice/internal/wire"

// jsonrpc are the methods of JSON-RPC v1 (section "Methods"), its later additions chat/stop and
// history/snapshot, and the extension stats.
var jsonrpc = table{known: "initialize, health, stats, shutdown, exit, and those of profile/, auth/, agents/, history/, chat/ and localTools/", methods: map[string]wire.Method{
	"initialize":            wire.MethodHandshake,
	"health":                wire.MethodHealth,
	"shutdown":              wire.MethodShutdown,
	"exit":                  wire.MethodExit,
	"stats":                 wire.MethodStats,
	"profile/list":          wire.MethodProfileList,
	"profile/set":           wire.MethodProfileSet,
	"profile/use":           wire.MethodProfileUse,
	"auth/login":            wire.MethodLogin,
	"auth/status":           wire.MethodAuthStatus,
	"auth/logout":           wire.MethodLogout,
	"agents/list":           wire.MethodAgentsList,
	"history/conversations": wire.MethodConversations,
	"history/turns":         wire.MethodTurns,
	"history/snapshot":      wire.MethodSnapshot,
	"chat/start":            wire.MethodChatStart,
	"chat/cancel":           wire.MethodChatCancel,
	"chat/stop":             wire.MethodChatStop,
	"localTools/status":     wire.MethodToolsStatus,
	"localTools/list":       wire.MethodToolsList,
	"localTools/configure":  wire.MethodToolsConfigure,
	"localTools/run":        wire.MethodToolsRun,
	"localTools/start":      wire.MethodToolsStart,
	"localTools/stop":       wire.MethodToolsStop,
}}

// JSONRPC routes the messages of JSON-RPC v1. Those with wrong params are routed too, because what comes
// before initialize is refused whatever its params are.
func JSONRPC(batch *wire.Requests) *wire.Requests {
	for i := range batch.Items {
		r := &batch.Items[i]
		if r.Fault != nil && r.Fault.Code == wire.CodeInvalidParams {
			r.Method = jsonrpc.methods[r.Name]
		}
	}
	return jsonrpc.apply(batch)
}

package route

import "sluice/internal/wire"

// ndjson are the methods of NDJSON v1 (section "Methods (v1)") and the extensions stats, warmup and
// approve.
var ndjson = table{known: "initialize, ping, doctor, plan, chat, cancel, shutdown, stats, warmup and approve", methods: map[string]wire.Method{
	"initialize": wire.MethodInitialize,
	"ping":       wire.MethodPing,
	"doctor":     wire.MethodDoctor,
	"plan":       wire.MethodPlan,
	"chat":       wire.MethodChat,
	"cancel":     wire.MethodCancel,
	"shutdown":   wire.MethodShutdown,
	"stats":      wire.MethodStats,
	"warmup":     wire.MethodWarmup,
	"approve":    wire.MethodApprove,
}}

// NDJSON routes the requests of NDJSON v1.
func NDJSON(batch *wire.Requests) *wire.Requests { return ndjson.apply(batch) }

package execute

import (
	"cmp"
	"slices"
	"sync"

	"sluice/internal/wire"
)

// answered is how a request of a method ended.
type answered struct {
	method  wire.Method
	outcome wire.Code // empty when it went well
}

// answers counts the answered requests.
type answers struct {
	mu    sync.Mutex
	count map[answered]int64
}

func (a *answers) add(method wire.Method, fault *wire.Fault) {
	key := answered{method: method}
	if fault != nil {
		key.outcome = fault.Code
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count[key]++
}

// methods are the names that the counts have; what couldn't be read has no method.
var methods = map[wire.Method]string{
	wire.MethodUnknown:    "unknown",
	wire.MethodInitialize: "initialize",
	wire.MethodPing:       "ping",
	wire.MethodChat:       "chat",
	wire.MethodCancel:     "cancel",
	wire.MethodShutdown:   "shutdown",
	wire.MethodStats:      "stats",
	wire.MethodWarmup:     "warmup",
	wire.MethodApprove:    "approve",
	wire.MethodPlan:       "plan",
	wire.MethodDoctor:     "doctor",

	wire.MethodHandshake:      "initialize",
	wire.MethodHealth:         "health",
	wire.MethodExit:           "exit",
	wire.MethodProfileList:    "profile/list",
	wire.MethodProfileSet:     "profile/set",
	wire.MethodProfileUse:     "profile/use",
	wire.MethodLogin:          "auth/login",
	wire.MethodAuthStatus:     "auth/status",
	wire.MethodLogout:         "auth/logout",
	wire.MethodAgentsList:     "agents/list",
	wire.MethodConversations:  "history/conversations",
	wire.MethodTurns:          "history/turns",
	wire.MethodSnapshot:       "history/snapshot",
	wire.MethodChatStart:      "chat/start",
	wire.MethodChatCancel:     "chat/cancel",
	wire.MethodChatStop:       "chat/stop",
	wire.MethodToolsStatus:    "localTools/status",
	wire.MethodToolsList:      "localTools/list",
	wire.MethodToolsConfigure: "localTools/configure",
	wire.MethodToolsRun:       "localTools/run",
	wire.MethodToolsStart:     "localTools/start",
	wire.MethodToolsStop:      "localTools/stop",
}

// stats lists the counts in order.
func (a *answers) stats() []wire.RequestStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]wire.RequestStats, 0, len(a.count))
	for key, n := range a.count {
		list = append(list, wire.RequestStats{Method: methods[key.method], Outcome: cmp.Or(string(key.outcome), "ok"), Count: n})
	}
	slices.SortFunc(list, func(x, y wire.RequestStats) int {
		return cmp.Or(cmp.Compare(x.Method, y.Method), cmp.Compare(x.Outcome, y.Outcome))
	})
	return list
}

// reply counts a request that has no events and hands over its final frame.
func (e *Execute) reply(method wire.Method, id wire.ID, reply wire.Reply) {
	fault, _ := reply.(*wire.Fault)
	e.answers.add(method, fault)
	e.options.Output.Reply(id, reply)
}

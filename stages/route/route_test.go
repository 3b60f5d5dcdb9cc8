package route

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/wire"
)

func one(name string) wire.Request {
	return NDJSON(&wire.Requests{Items: []wire.Request{{Name: name}}}).Items[0]
}

func TestKnownMethods(t *testing.T) {
	for name, want := range map[string]wire.Method{
		"initialize": wire.MethodInitialize, "ping": wire.MethodPing, "chat": wire.MethodChat, "cancel": wire.MethodCancel,
		"shutdown": wire.MethodShutdown, "stats": wire.MethodStats, "warmup": wire.MethodWarmup,
		"approve": wire.MethodApprove, "plan": wire.MethodPlan, "doctor": wire.MethodDoctor,
	} {
		if r := one(name); r.Method != want || r.Fault != nil {
			t.Errorf("%s: got %v, %v", name, r.Method, r.Fault)
		}
		if !strings.Contains(one("dance").Fault.Message, name) {
			t.Errorf("%s isn't listed", name)
		}
	}
}

func TestUnknownMethods(t *testing.T) {
	for _, name := range []string{"", "Ping", " ping", "ping ", "dance", "__proto__", "Plan", "doctor ", "health", strings.Repeat("é", 1<<20)} {
		r := one(name)
		if r.Method != wire.MethodUnknown || r.Fault == nil || r.Fault.Code != wire.CodeUnknownMethod {
			t.Errorf("%.20q: got %v, %v", name, r.Method, r.Fault)
			continue
		}
		if m := r.Fault.Message; len(m) > 300 || !utf8.ValidString(m) || !strings.HasPrefix(m, `unknown method "`+string([]rune(name)[:min(64, len([]rune(name)))])+`"`) {
			t.Errorf("%.20q: the message is %.400s", name, m)
		}
	}
}

func TestEarlierFaultStands(t *testing.T) {
	earlier := wire.NewFault(wire.CodeInvalidJSON, "earlier")
	r := NDJSON(&wire.Requests{Items: []wire.Request{{Name: "ping", Fault: earlier}}}).Items[0]
	if r.Fault != earlier || r.Method != wire.MethodUnknown {
		t.Errorf("got %+v", r)
	}
}

func TestRoutingAllocatesNothing(t *testing.T) {
	batch := &wire.Requests{Items: []wire.Request{{Name: "ping"}, {Name: "chat"}}}
	if n := testing.AllocsPerRun(100, func() { NDJSON(batch) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

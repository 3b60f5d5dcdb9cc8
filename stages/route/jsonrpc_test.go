package route

import (
	"strings"
	"testing"

	"sluice/internal/wire"
)

func oneMessage(name string, fault *wire.Fault) wire.Request {
	return JSONRPC(&wire.Requests{Items: []wire.Request{{Name: name, Fault: fault}}}).Items[0]
}

func TestMethodsOfJSONRPC(t *testing.T) {
	seen := map[wire.Method]string{}
	for name, method := range jsonrpc.methods {
		r := oneMessage(name, nil)
		if r.Method != method || r.Fault != nil || method == wire.MethodUnknown {
			t.Errorf("%s: got %v, %v", name, r.Method, r.Fault)
		}
		if seen[method] != "" {
			t.Errorf("%s and %s are the same method", name, seen[method])
		}
		seen[method] = name
	}
	if len(seen) != 24 {
		t.Errorf("there are %d methods", len(seen))
	}
}

func TestUnknownMethodsOfJSONRPC(t *testing.T) {
	for _, name := range []string{"", "Health", "ping", "chat", "chat/", "/health", "no/such", strings.Repeat("x", 1<<20)} {
		r := oneMessage(name, nil)
		if r.Method != wire.MethodUnknown || r.Fault == nil || r.Fault.Code != wire.CodeUnknownMethod || len(r.Fault.Message) > 300 {
			t.Errorf("%.20q: got %v, %.400v", name, r.Method, r.Fault)
		}
	}
}

// TestWrongParamsAreRouted, so that the gate before initialize knows the method; other faults stand alone.
func TestWrongParamsAreRouted(t *testing.T) {
	for code, want := range map[wire.Code]wire.Method{
		wire.CodeInvalidParams: wire.MethodHandshake, wire.CodeInvalidRequest: wire.MethodUnknown, wire.CodeInvalidJSON: wire.MethodUnknown,
	} {
		fault := wire.NewFault(code, "earlier")
		if r := oneMessage("initialize", fault); r.Method != want || r.Fault != fault {
			t.Errorf("%s: got %v, %v", code, r.Method, r.Fault)
		}
	}
}

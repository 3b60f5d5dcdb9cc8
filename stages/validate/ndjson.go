package validate

import (
	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// NDJSON validates the params of NDJSON v1's methods (sections "chat params", "cancel params").
func NDJSON(batch *wire.Requests) *wire.Requests {
	for i := range batch.Items {
		r := &batch.Items[i]
		if r.Fault == nil {
			r.Params, r.Fault = params(r)
		}
	}
	return batch
}

func params(r *wire.Request) (any, *wire.Fault) {
	f := fields{params: gjson.Parse(r.RawParams), code: wire.CodeInvalidRequest}
	var value any
	switch r.Name {
	case "initialize":
		value = initialize(&f)
	case "chat":
		value = chat(&f)
	case "cancel":
		value = &wire.CancelParams{Target: f.id("request_id")}
	case "warmup":
		value = &wire.WarmupParams{Agent: f.text("agent")}
	case "plan":
		value = &wire.PlanParams{Agent: f.text("agent")}
	case "doctor":
		value = &wire.DoctorParams{Agent: f.text("agent")}
	case "approve":
		value = approve(&f)
	}
	return value, f.fault
}

func initialize(f *fields) *wire.InitializeParams {
	f.object("capabilities")
	return &wire.InitializeParams{Versions: f.integers("protocol_versions"), Extensions: f.texts("capabilities.extensions")}
}

func approve(f *fields) *wire.ApproveParams {
	f.need("request_id", "a string or a number")
	p := &wire.ApproveParams{Target: f.id("request_id")}
	f.need("call_id", "a string")
	p.CallID = f.text("call_id")
	p.Decision = wire.Decision(f.oneOf("decision", string(wire.DecisionOnce), string(wire.DecisionSession), string(wire.DecisionDeny)))
	return p
}

func chat(f *fields) *wire.ChatParams {
	return &wire.ChatParams{
		UserID:           f.text("user_id"),
		SessionID:        f.text("session_id"),
		Agent:            f.text("agent"),
		Input:            f.text("input"),
		Resume:           f.flag("resume"),
		ApproveExecution: f.flag("approve_execution"),
	}
}

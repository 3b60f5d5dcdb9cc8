package pipeline

import (
	"context"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute"
)

// planned is what an engine of plan.txtar has besides its model: one agent for each end of a plan.
func planned(o *Options) {
	for _, name := range []string{"large", "lost", "slow"} {
		o.Execute.Agents = append(o.Execute.Agents, execute.Agent{Name: name, Model: name})
	}
	o.Execute.Agents[0].Model = "planned"
	o.Execute.Planner = scriptedPlanner{}
	o.Execute.Doctor = func(context.Context, string) ([]byte, error) {
		return []byte(`{"status":"warn","checks":[{"id":"configuration","status":"ok","message":"1 model","hint":""},` +
			`{"id":"stdout","status":"warn","message":"\u003ca file\u003e","hint":"use a pipe"}]}`), nil
	}
}

// scriptedPlanner plans by the model's name. Its text is as others write JSON: with white space, and with
// characters that no line of ours may hold.
type scriptedPlanner struct{}

// Plan implements execute.Planner.
func (scriptedPlanner) Plan(ctx context.Context, model string) ([]byte, error) {
	switch model {
	case "large":
		return nil, wire.NewFault(wire.CodeModelPlan, "it needs 40.0 GiB, and 8.0 GiB can be had")
	case "lost":
		return nil, wire.NewFault(wire.CodeModelMissing, `the model file "lost.gguf" is not there`)
	case "slow":
		if err := pause(ctx, 10*time.Second); err != nil {
			return nil, err
		}
	}
	return []byte("{\n \"model\": {\"name\": \"m\u0085\u2028é\"},\n \"plan\": {\"ctx_size\": 4096},\n \"fits\": true,\n \"command\": [\"llama-server\", \"-m\", \"m.gguf\"]\n}\n"), nil
}

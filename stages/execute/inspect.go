package execute

import (
	"context"

	"sluice/internal/wire"
)

// acceptPlan tells how an agent's model would be started. Nothing is started.
func (e *Execute) acceptPlan(r *wire.Request) {
	agent, fault := e.agent(r.Params.(*wire.PlanParams).Agent)
	if fault == nil && e.options.Planner == nil {
		fault = wire.NewFault(wire.CodeInvalidRequest, "there is nothing to plan: no llama-server is started by this engine")
	}
	if fault != nil {
		e.reply(r.Method, r.ID, fault)
		return
	}
	e.beside(r, func() wire.Reply {
		return e.document(func(ctx context.Context) ([]byte, error) { return e.options.Planner.Plan(ctx, agent.Model) })
	})
}

// acceptDoctor looks at what chats need. Without a configuration there is all the more to tell.
func (e *Execute) acceptDoctor(r *wire.Request) {
	name := r.Params.(*wire.DoctorParams).Agent
	var fault *wire.Fault
	switch {
	case e.options.Doctor == nil:
		fault = wire.NewFault(wire.CodeInvalidRequest, "this engine has nothing to look at")
	case e.options.Unconfigured != nil:
		name = ""
	case name != "":
		_, fault = e.agent(name)
	}
	if fault != nil {
		e.reply(r.Method, r.ID, fault)
		return
	}
	e.beside(r, func() wire.Reply {
		return e.document(func(ctx context.Context) ([]byte, error) { return e.options.Doctor(ctx, name) })
	})
}

// document answers with a JSON object, unless the engine was stopped meanwhile: what was looked at then
// is of no use.
func (e *Execute) document(make func(context.Context) ([]byte, error)) wire.Reply {
	object, err := make(e.ctx)
	if err == nil {
		err = context.Cause(e.ctx)
	}
	if err != nil {
		return e.faultOf(err)
	}
	return &wire.Document{JSON: object}
}

package execute

import (
	"context"
	"strings"

	"sluice/internal/wire"
)

// answerer works out the answer to a message, beside all others.
type answerer func(e *Execute, ctx context.Context, params any) (wire.Reply, error)

// asides are the methods that wait for files, keychains and gateways.
var asides = map[wire.Method]answerer{
	wire.MethodProfileList:    (*Execute).profileList,
	wire.MethodProfileSet:     (*Execute).profileSet,
	wire.MethodProfileUse:     (*Execute).profileUse,
	wire.MethodLogin:          (*Execute).login,
	wire.MethodAuthStatus:     (*Execute).authStatus,
	wire.MethodLogout:         (*Execute).logout,
	wire.MethodAgentsList:     (*Execute).agentsList,
	wire.MethodConversations:  (*Execute).conversations,
	wire.MethodTurns:          (*Execute).turns,
	wire.MethodSnapshot:       (*Execute).snapshot,
	wire.MethodToolsStatus:    (*Execute).toolsStatus,
	wire.MethodToolsList:      (*Execute).toolsList,
	wire.MethodToolsConfigure: (*Execute).toolsConfigure,
	wire.MethodToolsRun:       (*Execute).toolsOff,
	wire.MethodToolsStart:     (*Execute).toolsOff,
	wire.MethodToolsStop:      (*Execute).toolsStatus,
}

// changes are the methods that change the user's file: what is sent behind one sees what it did.
var changes = map[wire.Method]bool{wire.MethodProfileSet: true, wire.MethodProfileUse: true, wire.MethodToolsConfigure: true}

// aside answers a message in a goroutine of its own.
func (e *Execute) aside(r *wire.Request, work answerer) {
	if !e.queue.hold(r.Size) {
		e.answer(r, overloaded())
		return
	}
	if !e.begin() {
		e.queue.drop(r.Size)
		e.answer(r, stopping())
		return
	}
	asked, before := kept(r), e.changed
	done := func() {}
	if changes[r.Method] {
		changed := make(chan struct{})
		e.changed, done = changed, func() { close(changed) }
	}
	go func() {
		defer e.running.Done()
		defer e.queue.drop(asked.Size)
		reply := e.workOut(&asked, before, work)
		done()
		e.answer(&asked, reply)
	}()
}

// workOut returns the answer to a message, also when working it out panics.
func (e *Execute) workOut(asked *wire.Request, before <-chan struct{}, work answerer) (reply wire.Reply) {
	defer func() {
		if fault := e.recovered(recover()); fault != nil {
			reply = fault
		}
	}()
	if err := after(e.ctx, before); err != nil {
		return e.faultOf(err)
	}
	reply, err := work(e, e.ctx, asked.Params)
	if err != nil {
		return e.faultOf(err)
	}
	return reply
}

// after waits for a change that was asked for before; nil is none.
func after(ctx context.Context, change <-chan struct{}) error {
	if change == nil {
		return nil
	}
	select {
	case <-change:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// kept is what of a message outlives its line.
func kept(r *wire.Request) wire.Request {
	return wire.Request{ID: wire.ID(strings.Clone(string(r.ID))), Notification: r.Notification, Method: r.Method, Params: r.Params, Size: r.Size}
}

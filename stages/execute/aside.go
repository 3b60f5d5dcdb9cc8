package execute

import (
	"context"
	"strings"

	"sluice/internal/wire"
)

// aside is how a message is answered beside all others, by what waits for files, keychains and gateways.
type aside struct {
	// profile returns the name of the profile that the message means; nil for one that means none. It is
	// resolved before anything that was sent later is looked at.
	profile func(params any) string
	// ofFile says that the answer is about the user's file alone: it is worked out before that, too.
	ofFile bool
	answer func(e *Execute, ctx context.Context, profile wire.Profile, params any) (wire.Reply, error)
	// passing stands instead of answer for what calls pass itself, within its answer.
	passing func(e *Execute, ctx context.Context, profile wire.Profile, params any, pass func()) (wire.Reply, error)
}

// ordered reports whether a message has to do with the user's file. The profile local is in none.
func (how *aside) ordered(params any) bool {
	return how.ofFile || how.profile != nil && how.profile(params) != wire.LocalProfile || how.profile == nil && how.passing != nil
}

var asides = map[wire.Method]aside{
	wire.MethodProfileList:    {ofFile: true, answer: (*Execute).profileList},
	wire.MethodProfileSet:     {passing: (*Execute).profileSet},
	wire.MethodProfileUse:     {ofFile: true, answer: (*Execute).profileUse},
	wire.MethodLogin:          {profile: profileOfLogin, passing: (*Execute).login},
	wire.MethodAuthStatus:     {profile: namedProfile, answer: (*Execute).authStatus},
	wire.MethodLogout:         {profile: namedProfile, passing: (*Execute).logout},
	wire.MethodAgentsList:     {profile: profileOfAgents, answer: (*Execute).agentsList},
	wire.MethodConversations:  {profile: namedProfile, answer: (*Execute).conversations},
	wire.MethodTurns:          {profile: profileOfHistory, answer: (*Execute).turns},
	wire.MethodSnapshot:       {profile: profileOfHistory, answer: (*Execute).snapshot},
	wire.MethodToolsStatus:    {ofFile: true, answer: (*Execute).toolsStatus},
	wire.MethodToolsList:      {answer: (*Execute).toolsList},
	wire.MethodToolsConfigure: {ofFile: true, answer: (*Execute).toolsConfigure},
	wire.MethodToolsRun:       {answer: (*Execute).toolsOff},
	wire.MethodToolsStart:     {answer: (*Execute).toolsOff},
	wire.MethodToolsStop:      {ofFile: true, answer: (*Execute).toolsStatus},
}

func profileOfLogin(params any) string   { return params.(*wire.LoginParams).Profile }
func profileOfAgents(params any) string  { return params.(*wire.AgentsParams).Profile }
func namedProfile(params any) string     { return params.(*wire.ProfileParams).Profile }
func profileOfHistory(params any) string { return params.(*wire.HistoryParams).Profile }

// order lets the messages that have to do with the user's file come to it in the order in which they were
// sent, though each has a goroutine of its own. The nil one is of a message that waits for none.
type order struct {
	before <-chan struct{} // closed when the message before has been there; nil for the first
	mine   chan struct{}
	passed bool
}

// inOrderOfArrival gives a message its place. Only the goroutine that pushes calls it.
func (e *Execute) inOrderOfArrival() *order {
	o := &order{before: e.ordered, mine: make(chan struct{})}
	e.ordered = o.mine
	return o
}

// come waits until all messages before have been there. The error is the cause of ctx.
func (o *order) come(ctx context.Context) error {
	if o == nil || o.before == nil {
		return nil
	}
	select {
	case <-o.before:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pass lets the next message come. Calling it again is harmless.
func (o *order) pass() {
	if o != nil && !o.passed {
		o.passed = true
		close(o.mine)
	}
}

// answerAside answers a message in a goroutine of its own.
func (e *Execute) answerAside(r *wire.Request, how aside) {
	if !e.queue.hold(r.Size) {
		e.answer(r, overloaded())
		return
	}
	if !e.begin() {
		e.queue.drop(r.Size)
		e.answer(r, stopping())
		return
	}
	asked := kept(r)
	var place *order
	if how.ordered(r.Params) {
		place = e.inOrderOfArrival()
	}
	go func() {
		defer e.running.Done()
		defer e.queue.drop(asked.Size)
		e.answer(&asked, e.workOut(&asked, place, how))
	}()
}

// workOut returns the answer to a message, also when working it out panics.
func (e *Execute) workOut(asked *wire.Request, place *order, how aside) (reply wire.Reply) {
	defer place.pass()
	defer func() {
		if fault := e.recovered(recover()); fault != nil {
			reply = fault
		}
	}()
	if err := place.come(e.ctx); err != nil {
		return e.faultOf(err)
	}
	var profile wire.Profile
	if how.profile != nil {
		var err error
		if profile, err = e.options.RPC.Profiles.Resolve(how.profile(asked.Params)); err != nil {
			return e.faultOf(err)
		}
	}
	answer := how.answer
	switch {
	case how.passing != nil:
		answer = func(e *Execute, ctx context.Context, profile wire.Profile, params any) (wire.Reply, error) {
			return how.passing(e, ctx, profile, params, place.pass)
		}
	case !how.ofFile:
		place.pass()
	}
	reply, err := answer(e, e.ctx, profile, asked.Params)
	if err != nil {
		return e.faultOf(err)
	}
	return reply
}

// kept is what of a message outlives its line.
func kept(r *wire.Request) wire.Request {
	return wire.Request{ID: wire.ID(strings.Clone(string(r.ID))), Notification: r.Notification, Method: r.Method, Params: r.Params, Size: r.Size}
}

package execute

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/wire"
)

// world is an Execute between fake models and a fake output, in a bubble.
type world struct {
	*Execute
	t      *testing.T
	out    *fakeOutput
	models *fakeModels
}

// inWorld runs a test on the bubble's clock; whatever it left running is stopped.
func inWorld(t *testing.T, options Options, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, out: &fakeOutput{start: time.Now()}, models: &fakeModels{idle: 100 * time.Millisecond}}
		options := options
		options.Models, options.Output = w.models, w.out
		if options.Agents == nil {
			options.Agents = agents
		}
		options.Stats = func() *wire.Stats { return &wire.Stats{Merged: 7} }
		w.Execute = New(context.Background(), options)
		test(w)
		w.Stop(errors.New("the test is over"))
		w.Wait()
	})
}

// agents have models that behave as their names say.
var agents = []Agent{
	{Name: "assistant", Model: "ready"}, {Name: "slow", Model: "slow"}, {Name: "broken", Model: "broken"}, {Name: "panics", Model: "panics"},
}

func request(id wire.ID, method wire.Method, params any, size int) wire.Request {
	return wire.Request{ID: id, Method: method, Params: params, Size: size}
}

func (w *world) push(requests ...wire.Request) error {
	return w.Push(context.Background(), &wire.Requests{Items: requests})
}

// chat pushes chats of the first agent that take a time each, and waits until nothing moves.
func (w *world) chat(input string, ids ...wire.ID) {
	w.t.Helper()
	for _, id := range ids {
		w.chatWith(id, &wire.ChatParams{Input: input})
	}
}

func (w *world) chatWith(id wire.ID, params *wire.ChatParams) {
	w.t.Helper()
	if err := w.push(request(id, wire.MethodChat, params, 10)); err != nil {
		w.t.Error(err)
	}
	synctest.Wait()
}

// ask pushes a request that is answered at once and returns the answer.
func (w *world) ask(method wire.Method, params any) wire.Reply {
	w.t.Helper()
	if err := w.push(request("ask", method, params, 10)); err != nil {
		w.t.Error(err)
	}
	return w.out.last("ask")
}

func (w *world) cancelling(target wire.ID) wire.Reply {
	w.t.Helper()
	return w.ask(wire.MethodCancel, &wire.CancelParams{Target: target})
}

// saying compares what was handed over since the last time. The order of what different requests say
// at the same time is nobody's.
func (w *world) saying(want ...string) {
	w.t.Helper()
	synctest.Wait()
	if got := byRequest(w.out.taken()); !slices.Equal(got, byRequest(want)) {
		w.t.Errorf("got  %q\nwant %q", got, want)
	}
}

// byRequest brings together what each request said at one time, in its order.
func byRequest(log []string) []string {
	slices.SortStableFunc(log, func(a, b string) int {
		x, y := strings.SplitN(a, " ", 3), strings.SplitN(b, " ", 3)
		at, _ := time.ParseDuration(x[0])
		other, _ := time.ParseDuration(y[0])
		return cmp.Or(cmp.Compare(at, other), strings.Compare(x[1], y[1]))
	})
	return log
}

// after lets time pass.
func (w *world) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

package execute

import (
	"context"
	"errors"
	"testing"
	"time"

	"sluice/internal/wire"
)

// fakePlanner plans a model as its name says.
type fakePlanner struct{}

// Plan implements Planner.
func (fakePlanner) Plan(ctx context.Context, model string) ([]byte, error) {
	switch model {
	case "broken":
		return nil, wire.NewFault(wire.CodeModelPlan, "it does not fit")
	case "panics":
		panic("told to")
	case "slow":
		if err := sleep(ctx, time.Minute); err != nil {
			return nil, err
		}
	}
	return []byte(`{"model":"` + model + `"}`), nil
}

// fakeDoctor looks for a minute at an agent that is slow, and panics at one that panics.
func fakeDoctor(ctx context.Context, agent string) ([]byte, error) {
	switch agent {
	case "panics":
		panic("told to")
	case "slow":
		if sleep(ctx, time.Minute) != nil {
			return []byte(`{"status":"fail"}`), nil // it doesn't tell that it was interrupted
		}
	}
	return []byte(`{"agent":"` + agent + `"}`), nil
}

func documentOf(reply wire.Reply) string {
	switch r := reply.(type) {
	case *wire.Document:
		return string(r.JSON)
	case *wire.Fault:
		return string(r.Code)
	}
	return "nothing"
}

// TestPlanAndDoctor asks while every place for chats is taken.
func TestPlanAndDoctor(t *testing.T) {
	inWorld(t, Options{MaxParallelChats: 1, Planner: fakePlanner{}, Doctor: fakeDoctor}, func(w *world) {
		w.chat("1h", "running", "waiting")
		for agent, want := range map[string][2]string{
			"":          {`{"model":"ready"}`, `{"agent":""}`},
			"assistant": {`{"model":"ready"}`, `{"agent":"assistant"}`},
			"slow":      {`{"model":"slow"}`, `{"agent":"slow"}`},
			"broken":    {"model_plan_error", `{"agent":"broken"}`},
			"panics":    {"internal_error", "internal_error"},
			"nobody":    {"invalid_request", "invalid_request"},
		} {
			_ = w.push(request("p", wire.MethodPlan, &wire.PlanParams{Agent: agent}, 10), request("d", wire.MethodDoctor, &wire.DoctorParams{Agent: agent}, 10))
			w.after(time.Minute)
			if plan, doctor := documentOf(w.out.last("p")), documentOf(w.out.last("d")); plan != want[0] || doctor != want[1] {
				t.Errorf("%q: got %s and %s", agent, plan, doctor)
			}
		}
		if w.queue.held != 1 {
			t.Errorf("%d requests wait", w.queue.held)
		}
	})
}

// TestPlanAndDoctorWithoutConfiguration: a plan is refused, the doctor tells.
func TestPlanAndDoctorWithoutConfiguration(t *testing.T) {
	missing := wire.NewFault(wire.CodeConfigMissing, "there is none")
	inWorld(t, Options{Unconfigured: missing, Planner: fakePlanner{}, Doctor: fakeDoctor}, func(w *world) {
		if got := w.ask(wire.MethodPlan, &wire.PlanParams{Agent: "x"}); got != missing {
			t.Errorf("got %+v", got)
		}
		w.ask(wire.MethodDoctor, &wire.DoctorParams{Agent: "x"})
		w.after(time.Second)
		if got := documentOf(w.out.last("ask")); got != `{"agent":""}` {
			t.Errorf("got %s", got)
		}
	})
}

func TestNothingToPlanOrLookAt(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		for method, params := range map[wire.Method]any{wire.MethodPlan: &wire.PlanParams{}, wire.MethodDoctor: &wire.DoctorParams{}} {
			if got := documentOf(w.ask(method, params)); got != "invalid_request" {
				t.Errorf("%d: got %s", method, got)
			}
		}
	})
}

// TestStopEndsPlanAndDoctor, which are answered all the same.
func TestStopEndsPlanAndDoctor(t *testing.T) {
	inWorld(t, Options{Planner: fakePlanner{}, Doctor: fakeDoctor}, func(w *world) {
		_ = w.push(request("p", wire.MethodPlan, &wire.PlanParams{Agent: "slow"}, 10), request("d", wire.MethodDoctor, &wire.DoctorParams{Agent: "slow"}, 10))
		w.after(time.Second)
		w.Stop(errors.New("shutdown"))
		w.Wait()
		w.saying("1s p cancelled", "1s d cancelled")
		if got := w.ask(wire.MethodPlan, &wire.PlanParams{}); documentOf(got) != "cancelled" {
			t.Errorf("after the end: %+v", got)
		}
	})
}

func TestTooManyInspectionsAreOverloaded(t *testing.T) {
	inWorld(t, Options{MaxPendingRequests: 2, Planner: fakePlanner{}, Doctor: fakeDoctor}, func(w *world) {
		for range 3 {
			_ = w.push(request("p", wire.MethodPlan, &wire.PlanParams{Agent: "slow"}, 10))
		}
		w.saying("0s p overloaded")
	})
}

package agent

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"sluice/internal/wire"
)

// past puts a turn into the session.
func (w *world) past(turn wire.Turn) {
	w.sessions.next++
	turn.ID = w.sessions.next
	w.sessions.turns["u/s"] = append(w.sessions.turns["u/s"], &turn)
}

const unanswered = "(this turn ended without an answer)"

// TestHistory is what the model sees of past turns.
func TestHistory(t *testing.T) {
	ok := &wire.ToolResult{Status: wire.ToolOK, Text: "result"}
	call := func(c wire.TurnCall) wire.TurnStep { return wire.TurnStep{Text: "step", Calls: []wire.TurnCall{c}} }
	user := func(text string) wire.Message { return wire.Message{Role: "user", Content: text} }
	answered := func(text string) wire.Message { return wire.Message{Role: "assistant", Content: text} }
	called := wire.Message{Role: "assistant", Content: "step", Calls: []wire.ToolCall{{ID: "a", Function: "s__echo", Arguments: "{}"}}}
	got := func(text string) wire.Message { return wire.Message{Role: "tool", Content: text, CallID: "a"} }
	for name, c := range map[string]struct {
		turn wire.Turn
		want []wire.Message
	}{
		"answered":    {wire.Turn{Input: "q", Status: wire.TurnDone, Response: "a"}, []wire.Message{user("q"), answered("a")}},
		"with a call": {wire.Turn{Input: "q", Status: wire.TurnDone, Response: "a", Steps: []wire.TurnStep{call(stored("a", "s/echo", true, ok))}}, []wire.Message{user("q"), called, got("result"), answered("a")}},
		"killed":      {wire.Turn{Input: "q", Status: wire.TurnRunning}, []wire.Message{user("q"), answered(unanswered)}},
		"killed in a call": {wire.Turn{Input: "q", Status: wire.TurnRunning, Steps: []wire.TurnStep{call(stored("a", "s/echo", true, nil))}},
			[]wire.Message{user("q"), called, got("interrupted, outcome unknown"), answered(unanswered)}},
		"killed before a call": {wire.Turn{Input: "q", Status: wire.TurnRunning, Steps: []wire.TurnStep{call(stored("a", "s/echo", false, nil))}},
			[]wire.Message{user("q"), called, got("not made"), answered(unanswered)}},
		"cancelled": {wire.Turn{Input: "q", Status: wire.TurnCancelled, Response: "hal"}, []wire.Message{user("q"), answered("hal")}},
		"aborted":   {wire.Turn{Input: "q", Status: wire.TurnAborted, Steps: []wire.TurnStep{call(stored("a", "s/echo", true, ok))}}, []wire.Message{user("q"), called, got("result"), answered(unanswered)}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.past(c.turn)
				w.model.script = []said{{text: "done"}}
				w.run()
				if want := append(c.want, user("hi")); !reflect.DeepEqual(w.model.last().Messages, want) {
					t.Errorf("asked %+v\nwant %+v", w.model.last().Messages, want)
				}
				w.warned()
			})
		})
	}
}

// TestHistoryIsOfTheSessionAlone, and oldest first.
func TestHistoryIsOfTheSessionAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sessions.turns["u/other"] = []*wire.Turn{{ID: 100, Input: "a secret", Response: "yes"}}
		w.sessions.turns["other/s"] = []*wire.Turn{{ID: 101, Input: "a secret", Response: "yes"}}
		for i := range 3 {
			w.past(wire.Turn{Input: fmt.Sprint("q", i), Response: fmt.Sprint("a", i), Status: wire.TurnDone})
		}
		w.model.script = []said{{text: "done"}}
		w.run()
		var texts []string
		for _, m := range w.model.last().Messages {
			texts = append(texts, m.Content)
		}
		if want := []string{"q0", "a0", "q1", "a1", "q2", "a2", "hi"}; !reflect.DeepEqual(texts, want) {
			t.Errorf("asked %q", texts)
		}
	})
}

// TestRolesAlternate whatever past turns look like: many chat templates want users and assistants by
// turns, with the results of calls right behind the assistant that made them.
func TestRolesAlternate(t *testing.T) {
	for seed := range uint64(200) {
		inWorld(t, func(w *world) {
			random := rand.New(rand.NewPCG(seed, 2))
			for range random.IntN(6) {
				w.past(randomTurn(random))
			}
			if random.IntN(2) == 0 {
				w.past(randomTurn(random))
				w.options.Resume = true
			}
			w.options.MaxSteps = 100
			w.model.script = []said{calling(`{"a" 1}`, "x s__echo"), {text: "done"}}
			w.run()
			for _, asked := range w.model.asked {
				alternates(t, asked.Messages)
			}
		})
	}
}

func randomTurn(random *rand.Rand) wire.Turn {
	results := []*wire.ToolResult{nil, {Status: wire.ToolOK, Text: "ok"}}
	states := []wire.TurnStatus{wire.TurnRunning, wire.TurnDone, wire.TurnAborted, wire.TurnCancelled, wire.TurnFailed}
	turn := wire.Turn{Input: "q", Status: states[random.IntN(len(states))], Response: []string{"", "a"}[random.IntN(2)]}
	for n := range random.IntN(4) {
		step := wire.TurnStep{Number: n}
		for range random.IntN(3) {
			result := results[random.IntN(2)]
			step.Calls = append(step.Calls, stored(fmt.Sprint("c", random.IntN(1000)), "s/echo", result != nil || random.IntN(2) == 0, result))
		}
		turn.Steps = append(turn.Steps, step)
	}
	return turn
}

func alternates(t *testing.T, messages []wire.Message) {
	t.Helper()
	want, pending := wire.RoleUser, 0
	for i, m := range messages {
		switch {
		case m.Role == wire.RoleTool && pending > 0:
			pending--
			continue
		case m.Role != want || pending > 0:
			t.Errorf("message %d of %+v is out of turn", i, messages)
			return
		case m.Role == wire.RoleUser:
			want = wire.RoleAssistant
			continue
		}
		if pending = len(m.Calls); pending == 0 {
			want = wire.RoleUser
		}
	}
	if last := messages[len(messages)-1].Role; last == wire.RoleAssistant {
		t.Errorf("the last message is the assistant's: %+v", messages)
	}
}

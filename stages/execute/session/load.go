package session

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/internal/wire"
)

// span is a session's turns with ids from first to last.
type span struct {
	key
	first, last int64
}

// CROSS JOIN has SQLite begin with the session's turns, never with a whole table of steps.
const (
	spanned     = " WHERE user_id = ? AND session_id = ? AND id BETWEEN ? AND ? ORDER BY id"
	ofTurn      = " ON turn_id = id"
	loadTurns   = "SELECT id, started, trace_id, agent, input, status, response, begin_sum, end_sum FROM turns" + spanned
	loadSteps   = "SELECT turn_id, number, text, calls, sum FROM turns CROSS JOIN steps" + ofTurn + spanned + ", number"
	loadCalls   = "SELECT turn_id, step, idx, call_id, function, arguments, tool, calls.started, sum FROM turns CROSS JOIN calls" + ofTurn + spanned + ", step, idx"
	loadResults = "SELECT turn_id, step, idx, results.status, text, retryable, took, sum FROM turns CROSS JOIN results" + ofTurn + spanned + ", step, idx"
)

// loader reads whole turns and finds those of which a row can't be read.
type loader struct {
	span
	// most is how much of a tool's result is kept once its sum was checked, in bytes; 0: all.
	most  int
	turns map[int64]*wire.Turn
	order []int64
	// calls counts the rows of a turn's calls.
	calls map[int64]int
	// damaged says what is wrong with a turn.
	damaged map[int64]string
}

// loaded is what was read of a span.
type loaded struct {
	turns []wire.Turn // oldest first, without the damaged ones
	// damaged says what is wrong with a turn.
	damaged map[int64]string
	// generation is that of the database.
	generation int64
}

// load reads the turns of a span, with each tool result cut at maxResultBytes (0: not at all).
func load(ctx context.Context, from source, s span, maxResultBytes int) (loaded, error) {
	l := &loader{span: s, most: maxResultBytes, turns: map[int64]*wire.Turn{}, calls: map[int64]int{}, damaged: map[int64]string{}}
	for _, part := range []struct {
		query string
		take  func(*fields)
	}{{loadTurns, l.turn}, {loadSteps, l.step}, {loadCalls, l.call}, {loadResults, l.result}} {
		if err := eachRow(ctx, from.query, part.query, part.take, s.user, s.session, s.first, s.last); err != nil {
			return loaded{}, err
		}
	}
	turns := make([]wire.Turn, 0, len(l.order))
	for _, id := range l.order {
		l.checkWhole(l.turns[id])
		if l.damaged[id] == "" {
			turns = append(turns, *l.turns[id])
		}
	}
	return loaded{turns, l.damaged, from.generation}, nil
}

func (l *loader) turn(f *fields) {
	t := &wire.Turn{ID: f.number(), Started: time.UnixMilli(f.number())}
	t.TraceID, t.Agent, t.Input = f.text(), f.text(), f.text()
	t.Status, t.Response = wire.TurnStatus(f.text()), f.text()
	begin, end := f.number(), f.number()
	l.turns[t.ID] = t
	l.order = append(l.order, t.ID)
	switch {
	case f.bad != "":
		l.damaged[t.ID] = f.bad
	case begin != beginSum(l.key, t):
		l.damaged[t.ID] = "the turn's input is damaged"
	case end != endSum(t) || !known(t.Status):
		l.damaged[t.ID] = "the turn's response or status is damaged"
	}
}

func known(status wire.TurnStatus) bool {
	switch status {
	case wire.TurnRunning, wire.TurnDone, wire.TurnAborted, wire.TurnCancelled, wire.TurnFailed:
		return true
	}
	return false
}

// spoil notes what is wrong with a turn; the first fault is kept.
func (l *loader) spoil(id int64, fault string) {
	if fault != "" && l.damaged[id] == "" {
		l.damaged[id] = fault
	}
}

func (l *loader) step(f *fields) {
	id := f.number()
	step := wire.TurnStep{Number: int(f.number()), Text: f.text()}
	calls := f.number()
	if calls < 0 || calls > 1<<20 {
		f.spoil("a step's number of calls is damaged")
		calls = 0
	}
	if calls > 0 {
		step.Calls = make([]wire.TurnCall, calls)
	}
	if f.number() != stepSum(id, &step) {
		f.spoil("a step's text is damaged")
	}
	l.spoil(id, f.bad)
	if t := l.turns[id]; t != nil {
		t.Steps = append(t.Steps, step)
	}
}

func (l *loader) call(f *fields) {
	id, number, index := f.number(), int(f.number()), int(f.number())
	var c wire.TurnCall
	c.ID, c.Function, c.Arguments, c.Tool = f.text(), f.text(), f.text(), f.text()
	started := f.number()
	c.Started = started == 1
	if f.number() != callSum(id, number, index, &c) || started&^1 != 0 {
		f.spoil("a tool call is damaged")
	}
	l.spoil(id, f.bad)
	l.calls[id]++
	if place := l.place(id, number, index); place != nil {
		*place = c
	} else {
		l.spoil(id, "a tool call has no step")
	}
}

func (l *loader) result(f *fields) {
	id, number, index := f.number(), int(f.number()), int(f.number())
	r := &wire.ToolResult{Status: wire.ToolStatus(f.text()), Text: f.text(), Retryable: f.number() == 1, Took: time.Duration(f.number())}
	if f.number() != resultSum(id, number, index, r) {
		f.spoil("a tool's result is damaged")
	}
	l.spoil(id, f.bad)
	l.cut(r)
	if place := l.place(id, number, index); place != nil {
		place.Result = r
	} else {
		l.spoil(id, "a tool's result has no call")
	}
}

func (l *loader) place(id int64, number, index int) *wire.TurnCall {
	if t := l.turns[id]; t != nil {
		return callAt(t, number, index)
	}
	return nil
}

// callAt returns a call of a turn; nil when there is none.
func callAt(t *wire.Turn, number, index int) *wire.TurnCall {
	for i := range t.Steps {
		if step := &t.Steps[i]; step.Number == number && index >= 0 && index < len(step.Calls) {
			return &step.Calls[index]
		}
	}
	return nil
}

// cut keeps the beginning of a long result, in memory of its own: the whole text can go.
func (l *loader) cut(r *wire.ToolResult) {
	if l.most <= 0 || len(r.Text) <= l.most {
		return
	}
	size := l.most
	for size > 0 && !utf8.RuneStart(r.Text[size]) {
		size--
	}
	r.Bytes, r.Text = len(r.Text), strings.Clone(r.Text[:size])
}

// checkWhole notes a step or a call whose row is missing.
func (l *loader) checkWhole(t *wire.Turn) {
	calls := 0
	for i := range t.Steps {
		calls += len(t.Steps[i].Calls)
		if t.Steps[i].Number != i {
			l.spoil(t.ID, "a step is missing")
		}
	}
	if calls != l.calls[t.ID] {
		l.spoil(t.ID, "a tool call is missing")
	}
}

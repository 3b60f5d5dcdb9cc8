package session

import (
	"context"
	"slices"

	"sluice/internal/wire"
)

// Begin stores a new turn with status running and sets its ID, which stays 0 when it can't be stored.
// Nothing of it is stored later when ctx ends.
func (s *Session) Begin(ctx context.Context, turn *wire.Turn) error {
	s.turn = cleanTurn(turn)
	s.turn.Status, s.turn.Response, s.turn.ID = wire.TurnRunning, "", 0
	s.place, s.row, s.stale = &place{}, 0, false
	turn.ID, turn.Status = 0, wire.TurnRunning
	if err := s.write(ctx, &job{}, func(*connection, int64) error { return errGone }); err != nil {
		return err
	}
	turn.ID, s.turn.ID = s.row, s.row
	return nil
}

// SaveStep stores a finished model step with its calls, none of them started.
func (s *Session) SaveStep(ctx context.Context, turn int64, step *wire.TurnStep) error {
	if err := s.adopt(ctx, turn); err != nil {
		return err
	}
	saved := cleanStep(step)
	s.turn.Steps = slices.DeleteFunc(s.turn.Steps, func(other wire.TurnStep) bool {
		if other.Number == saved.Number { // stored before: the turn is stored anew
			s.stale = true
			return true
		}
		return false
	})
	s.turn.Steps = append(s.turn.Steps, saved)
	return s.write(ctx, &job{stays: true}, func(c *connection, row int64) error { return insertStep(c, row, &saved) })
}

// StartCall stores that the call at index of a step is being made.
func (s *Session) StartCall(ctx context.Context, turn int64, step, index int) error {
	call, err := s.call(ctx, turn, step, index)
	if err != nil {
		return err
	}
	call.Started = true
	return s.write(ctx, &job{stays: true}, func(c *connection, row int64) error { return startCall(c, row, step, index) })
}

// EndCall stores how the call at index of a step ended.
func (s *Session) EndCall(ctx context.Context, turn int64, step, index int, result *wire.ToolResult) error {
	call, err := s.call(ctx, turn, step, index)
	if err != nil {
		return err
	}
	s.stale = s.stale || call.Result != nil // it ended before: the turn is stored anew
	ended := *result
	ended.Text = clean(ended.Text)
	call.Result = &ended
	return s.write(ctx, &job{stays: true}, func(c *connection, row int64) error { return insertResult(c, row, step, index, &ended) })
}

func (s *Session) call(ctx context.Context, turn int64, step, index int) (*wire.TurnCall, error) {
	if err := s.adopt(ctx, turn); err != nil {
		return nil, err
	}
	if call := callAt(s.turn, step, index); call != nil {
		return call, nil
	}
	return nil, ErrNoTurn
}

// Resume sets a turn that was interrupted running again.
func (s *Session) Resume(ctx context.Context, turn int64) error {
	return s.setStatus(ctx, turn, wire.TurnRunning, "")
}

// End stores how the turn ended. Once it returned nil, a killed engine loses nothing of it.
func (s *Session) End(ctx context.Context, turn int64, status wire.TurnStatus, response string) error {
	return s.setStatus(ctx, turn, status, clean(response))
}

func (s *Session) setStatus(ctx context.Context, turn int64, status wire.TurnStatus, response string) error {
	if err := s.adopt(ctx, turn); err != nil {
		return err
	}
	s.turn.Status, s.turn.Response = status, response
	ended := s.turn
	return s.write(ctx, &job{stays: true}, func(c *connection, row int64) error { return updateStatus(c, row, ended) })
}

// adopt makes a turn of the session the running one.
func (s *Session) adopt(ctx context.Context, id int64) error {
	if s.turn != nil && s.turn.ID == id {
		return nil
	}
	if id <= 0 {
		return ErrNoTurn
	}
	read, err := s.load(ctx, id, id, 0) // whole: it may have to be stored anew
	if err != nil {
		return err
	}
	if len(read.turns) == 0 {
		return ErrNoTurn
	}
	s.turn = &read.turns[0]
	s.place, s.row, s.stale = &place{read.generation, id}, id, false
	return nil
}

// cleanTurn returns a copy whose texts are UTF-8.
func cleanTurn(t *wire.Turn) *wire.Turn {
	c := *t
	c.TraceID, c.Agent, c.Input, c.Response = clean(c.TraceID), clean(c.Agent), clean(c.Input), clean(c.Response)
	c.Steps = nil
	for i := range t.Steps {
		c.Steps = append(c.Steps, cleanStep(&t.Steps[i]))
	}
	return &c
}

// cleanStep returns a copy whose texts are UTF-8 and whose calls were not started.
func cleanStep(s *wire.TurnStep) wire.TurnStep {
	c := wire.TurnStep{Number: s.Number, Text: clean(s.Text), Calls: slices.Clone(s.Calls)}
	for i := range c.Calls {
		call := &c.Calls[i]
		call.ID, call.Function, call.Arguments, call.Tool = clean(call.ID), clean(call.Function), clean(call.Arguments), clean(call.Tool)
		call.Started, call.Result = false, nil
	}
	return c
}

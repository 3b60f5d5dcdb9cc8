package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"sluice/internal/wire"
)

// place is where a turn is stored. It is the writer's once it was handed over with a job.
type place struct {
	// generation is that of the database, 0: none.
	generation int64
	// row is the turn's id there.
	row int64
}

// write has the job store a change of the running turn, which was made in memory before: by the function
// where all the rest is stored, else with the whole turn.
func (s *Session) write(ctx context.Context, j *job, change func(c *connection, row int64) error) error {
	turn, place, whole := s.turn, s.place, s.stale
	row := int64(0)
	j.turn, j.done = turn, make(chan error, 1)
	j.run = func(b *base) (err error) {
		row, err = s.put(b, turn, place, whole, change)
		return err
	}
	if err := s.store.hand(ctx, j); err != nil {
		s.stale = true
		s.turn = copyTurn(turn) // the writer may go on with the other
		return s.toldOfWrite(ctx, j, err)
	}
	s.row, s.stale = row, false
	return nil
}

// toldOfWrite turns the error of a write into one for people.
func (s *Session) toldOfWrite(ctx context.Context, j *job, err error) error {
	file := s.store.file()
	if j.parted.Load() && !isBusy(err) { // the writer goes on with it
		return &unstored{strings.TrimSpace("the session file "+file) + " was busy for too long. What is missing is stored once it is free, " +
			"unless this engine ends before that; end an engine that hangs or was suspended", err}
	}
	return told(ctx, err, unstorable, file)
}

// put stores a change of a turn, or the whole turn, in the database b, and returns its row. It is the
// writer's.
func (s *Session) put(b *base, turn *wire.Turn, at *place, whole bool, change func(c *connection, row int64) error) (int64, error) {
	if err := s.settle(b); err != nil {
		return 0, err
	}
	row := int64(0)
	if at.generation == b.generation {
		row = at.row
	}
	if row != 0 && !whole {
		if err := change(b.connection, row); !errors.Is(err, errGone) {
			return row, err
		}
	}
	row, err := insertWhole(b.connection, s.key, turn, row)
	if err == nil {
		remember(b, at, place{b.generation, row})
	}
	return row, err
}

// settle makes sure that the session is still the chat's in the database b.
func (s *Session) settle(b *base) error {
	if s.generation != b.generation {
		if err := b.engine.takeLease(b.connection, s.key, s.token, time.Now()); err != nil {
			if errors.Is(err, errHeld) {
				err = ErrLost
			}
			return err
		}
		remember(b, &s.generation, b.generation)
		return nil
	}
	ours, err := b.engine.hasLease(b.connection, s.key, s.token)
	if err == nil && !ours {
		err = ErrLost
	}
	return err
}

// copyTurn returns a copy that shares no more than what nobody changes.
func copyTurn(t *wire.Turn) *wire.Turn {
	c := *t
	c.Steps = slices.Clone(t.Steps)
	for i := range c.Steps {
		c.Steps[i].Calls = slices.Clone(c.Steps[i].Calls)
	}
	return &c
}

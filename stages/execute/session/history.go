package session

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"sluice/internal/wire"
)

const (
	newest = "SELECT max(id) FROM turns WHERE user_id = ? AND session_id = ? AND id < ?"
	// sizes measures turns by the headers of their rows, newest first; no text is read for that.
	sizes = `SELECT id, octet_length(input) + octet_length(response),
	(SELECT sum(octet_length(text)) FROM steps WHERE turn_id = turns.id),
	(SELECT sum(octet_length(arguments)) FROM calls WHERE turn_id = turns.id),
	(SELECT sum(min(octet_length(text), ?)) FROM results WHERE turn_id = turns.id)
	FROM turns WHERE user_id = ? AND session_id = ? AND id < ? ORDER BY id DESC`
)

// Last returns the session's newest turn, its tool results cut at maxResultBytes (0: not at all); nil
// when there is none.
func (s *Session) Last(ctx context.Context, maxResultBytes int) (*wire.Turn, error) {
	for before := int64(math.MaxInt64); ; {
		id, err := s.newestBefore(ctx, before)
		if err != nil || id == 0 {
			return nil, err
		}
		read, err := s.load(ctx, id, id, maxResultBytes)
		if err != nil {
			return nil, err
		}
		if len(read.turns) > 0 {
			return &read.turns[0], nil
		}
		before = id // it was damaged
	}
}

func (s *Session) newestBefore(ctx context.Context, before int64) (int64, error) {
	return readSession(ctx, s, func(from source) (id int64, err error) {
		err = eachRow(ctx, from.query, newest, func(f *fields) { id = f.number() }, s.user, s.session, before)
		return id, err
	})
}

// History returns the turns before the turn with the id before (0: all), newest first, whole turns
// only, as many as come to at most maxBytes of text with each tool result cut at maxResultBytes (0: not
// at all), which it is; the first is returned even if it alone is longer. Whole results are read one at
// a time, to check them.
func (s *Session) History(ctx context.Context, before int64, maxBytes, maxResultBytes int) ([]wire.Turn, error) {
	oldest, err := s.oldestThatFits(ctx, s.rowOf(before), maxBytes, maxResultBytes)
	if err != nil || oldest == 0 {
		return nil, err
	}
	read, err := s.load(ctx, oldest, s.rowOf(before)-1, maxResultBytes)
	slices.Reverse(read.turns)
	return read.turns, err
}

// rowOf returns the row of a turn before which history is asked for.
func (s *Session) rowOf(turn int64) int64 {
	running := s.turn != nil && s.turn.ID == turn && s.row != 0
	switch {
	case running && (turn != 0 || s.turn.Status == wire.TurnRunning): // one that could not be stored at first has no id
		return s.row
	case turn == 0:
		return math.MaxInt64
	}
	return turn
}

func (s *Session) oldestThatFits(ctx context.Context, before int64, maxBytes, maxResultBytes int) (int64, error) {
	if maxResultBytes <= 0 {
		maxResultBytes = math.MaxInt
	}
	return readSession(ctx, s, func(from source) (oldest int64, err error) {
		room := int64(maxBytes)
		err = eachRowUntil(ctx, from.query, sizes, func(f *fields) bool {
			id := f.number()
			for range 4 {
				if n, ok := f.next().(int64); ok { // a sum of nothing is NULL
					room -= n
				}
			}
			if room < 0 && oldest != 0 {
				return false
			}
			oldest = id
			return true
		}, maxResultBytes, s.user, s.session, before)
		return oldest, err
	})
}

// load reads the turns from first to last. Damaged ones are set aside, with a warning.
func (s *Session) load(ctx context.Context, first, last int64, maxResultBytes int) (loaded, error) {
	read, err := readSession(ctx, s, func(from source) (loaded, error) {
		return load(ctx, from, span{s.key, first, last}, maxResultBytes)
	})
	for _, id := range slices.Sorted(maps.Keys(read.damaged)) {
		s.setTurnAside(ctx, id, read.damaged[id])
	}
	return read, err
}

// setTurnAside moves a damaged turn out of the way. One that can't be moved is met again; it is told once.
func (s *Session) setTurnAside(ctx context.Context, id int64, why string) {
	done := "it was moved to the table damaged"
	err := s.store.do(ctx, func(b *base) error { return quarantine(b.connection, id, why) })
	if err != nil {
		done = "it could not be set aside: " + told(ctx, err, unstorable, s.store.file()).Error()
	}
	if s.aside[id] {
		return
	}
	if s.aside == nil {
		s.aside = map[int64]bool{}
	}
	s.aside[id] = true
	s.warn(fmt.Sprintf("turn %d of the session can't be read (%s); %s, and the session goes on without it", id, why, done))
}

// readSession is readFrom with errors for people.
func readSession[T any](ctx context.Context, s *Session, run func(from source) (T, error)) (T, error) {
	read, err := readFrom(ctx, s.store, run)
	return read, told(ctx, err, "the session can't be read", s.store.file())
}

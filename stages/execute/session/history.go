package session

import (
	"context"
	"fmt"
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
		turns, err := s.load(ctx, id, id, maxResultBytes)
		if err != nil {
			return nil, err
		}
		if len(turns) > 0 {
			return &turns[0], nil
		}
		before = id // it was damaged
	}
}

func (s *Session) newestBefore(ctx context.Context, before int64) (id int64, err error) {
	err = s.read(ctx, func(query rowSource) error {
		id = 0
		return eachRow(ctx, query, newest, func(f *fields) { id = f.number() }, s.user, s.session, before)
	})
	return id, err
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
	turns, err := s.load(ctx, oldest, s.rowOf(before)-1, maxResultBytes)
	slices.Reverse(turns)
	return turns, err
}

// rowOf returns the row of a turn before which history is asked for.
func (s *Session) rowOf(turn int64) int64 {
	running := s.turn != nil && s.turn.ID == turn && s.place.row != 0
	switch {
	case running && (turn != 0 || s.turn.Status == wire.TurnRunning): // one that could not be stored at first has no id
		return s.place.row
	case turn == 0:
		return math.MaxInt64
	}
	return turn
}

func (s *Session) oldestThatFits(ctx context.Context, before int64, maxBytes, maxResultBytes int) (oldest int64, err error) {
	err = s.read(ctx, func(query rowSource) error {
		oldest = 0
		if maxResultBytes <= 0 {
			maxResultBytes = math.MaxInt
		}
		room := int64(maxBytes)
		return eachRowUntil(ctx, query, sizes, func(f *fields) bool {
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
	})
	return oldest, err
}

// load returns the turns from first to last, oldest first. Damaged ones are set aside, with a warning.
func (s *Session) load(ctx context.Context, first, last int64, maxResultBytes int) (turns []wire.Turn, err error) {
	var damaged map[int64]string
	err = s.read(ctx, func(query rowSource) (err error) {
		turns, damaged, err = load(ctx, query, span{s.key, first, last}, maxResultBytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	for id, why := range damaged {
		s.setTurnAside(ctx, id, why)
	}
	return turns, nil
}

func (s *Session) setTurnAside(ctx context.Context, id int64, why string) {
	done := "it was moved to the table damaged"
	err := s.store.do(ctx, func(b *base) error { return quarantine(b.connection, id, why) })
	if err != nil {
		done = "it could not be set aside: " + told(ctx, err, unstorable, s.store.file()).Error()
	}
	s.warn(fmt.Sprintf("turn %d of the session can't be read (%s); %s, and the session goes on without it", id, why, done))
}

// read runs a function over the store's database, and makes its errors fit for people.
func (s *Session) read(ctx context.Context, run func(query rowSource) error) error {
	return told(ctx, s.store.read(ctx, run), "the session can't be read", s.store.file())
}

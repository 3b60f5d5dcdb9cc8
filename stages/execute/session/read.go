package session

import (
	"context"
	"errors"
)

// source is a database for reading.
type source struct {
	query rowSource
	// generation is the database's.
	generation int64
}

// readFrom runs a function over a database for reading until ctx ends. It may be run again when the file
// turned out damaged and was replaced.
func readFrom[T any](ctx context.Context, s *Store, run func(from source) (T, error)) (T, error) {
	var read, none T
	var err error
	for range tries {
		var generation int64
		generation, err = s.readOnce(func(from source) (err error) {
			read, err = run(from)
			return err
		})
		switch {
		case err == nil:
			return read, nil
		case errors.Is(err, errShared):
			return ask(ctx, s, func(b *base) (T, error) { return run(source{b.query, b.generation}) })
		case errors.Is(err, errMoved): // there is none yet, or it is being replaced
			err = s.do(ctx, nil)
		case isDamage(err) && !s.options.Inspect:
			err = s.do(ctx, reportDamage(generation, err))
		default:
			return none, err
		}
		if err != nil {
			return none, err
		}
	}
	_, err = s.readOnce(func(from source) (err error) {
		read, err = run(from)
		return err
	})
	if err != nil {
		return none, err
	}
	return read, nil
}

// reportDamage makes the writer replace a database that a reader found damaged.
func reportDamage(generation int64, damage error) func(*base) error {
	return func(b *base) error {
		if b.generation == generation {
			return damage
		}
		return nil
	}
}

func (s *Store) readOnce(run func(from source) error) (generation int64, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch b := s.base; {
	case b == nil:
		return 0, errMoved
	case b.readers == nil:
		return 0, errShared
	default:
		return b.generation, run(source{b.read, b.generation})
	}
}

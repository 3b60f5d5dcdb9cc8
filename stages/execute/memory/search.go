package memory

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"sluice/internal/wire"
)

// candidates is how many turns each of the two searches brings at most.
const candidates = 50

// request is what one Retrieve looks for.
type request struct {
	user, session string
	terms         []term
	vector        *queryVector // nil without an embedding model
}

// search looks for the words, meanwhile the text's vector is made, then by that.
func (x *Index) search(ctx context.Context, r request) ([]wire.Snippet, error) {
	byWords, err := x.searchWords(ctx, r)
	if err != nil {
		return nil, err
	}
	byMeaning, err := x.searchMeaning(ctx, r, r.vector.wait(ctx), byWords)
	if err != nil {
		return nil, err
	}
	return x.snippets(ctx, r, fuse(byWords, byMeaning))
}

func (x *Index) searchWords(ctx context.Context, r request) ([]int64, error) {
	x.files.RLock()
	defer x.files.RUnlock()
	if x.store == nil {
		return nil, x.problem
	}
	user, ok, err := x.store.user(ctx, r.user)
	if err != nil || !ok {
		return nil, err
	}
	return x.store.search(ctx, user, r.session, r.terms, x.options.TopK)
}

// snippets reads the first turns that are still there. The last problem is the error when there is
// none.
func (x *Index) snippets(ctx context.Context, r request, turns []int64) (list []wire.Snippet, err error) {
	x.files.RLock()
	defer x.files.RUnlock()
	if x.source == nil {
		return nil, x.problem
	}
	for _, turn := range turns {
		snippet, ok, err := x.source.snippet(ctx, turn, r.user, r.session)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, snippet)
		}
		if len(list) == x.options.TopK {
			return list, nil
		}
	}
	if len(list) == 0 {
		return nil, x.problem
	}
	return list, nil
}

const userQuery = `SELECT id FROM users WHERE name = ?`

// user returns a user's number; ok is false when nothing of theirs is indexed.
func (s *store) user(ctx context.Context, name string) (id int64, ok bool, err error) {
	err = s.read.QueryRowContext(ctx, userQuery, name).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// search returns the turns that fit best, best first: by the rare words, and when those bring fewer
// than enough, by the common ones among the newest turns. Words that are in too many turns to tell one
// from another are not looked for, so they alone bring none.
func (s *store) search(ctx context.Context, user int64, session string, terms []term, enough int) ([]int64, error) {
	all, err := s.count(ctx, user, content(terms))
	if err != nil || len(all) == 0 {
		return nil, err
	}
	stored, err := s.stored(ctx, user)
	if err != nil {
		return nil, err
	}
	rare, common := choose(telling(all, stored))
	turns, err := s.turns(ctx, user, session, rare, 0)
	if err != nil || len(turns) >= enough || len(common) == 0 {
		return turns, err
	}
	more, err := s.newest(ctx, user, session, common)
	for _, turn := range more {
		if !slices.Contains(turns, turn) {
			turns = append(turns, turn)
		}
	}
	return turns, err
}

const windowQuery = `SELECT turn FROM docs WHERE user = ? ORDER BY turn DESC LIMIT 1 OFFSET ?`

// newest searches for the rarest of common words in the user's newest turns.
func (s *store) newest(ctx context.Context, user int64, session string, common []counted) ([]int64, error) {
	var after int64
	err := s.findWindow.QueryRowContext(ctx, user, windowTurns).Scan(&after)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	for i, c := range common {
		word := match(userMark(user), c)
		n, known := s.common.get(word)
		if !known || n == notCounted {
			if n, err = s.countOne(ctx, word, after); err != nil {
				return nil, err
			}
			s.common.put(word, n)
		}
		common[i].turns = n
	}
	rare, others := choose(telling(common, windowTurns))
	rarest := append(rare, others...)
	return s.turns(ctx, user, session, rarest[:min(len(rarest), commonTerms)], after)
}

// count counts the turns that hold each term, up to one more than are ranked.
func (s *store) count(ctx context.Context, user int64, terms []term) (list []counted, err error) {
	list = make([]counted, len(terms))
	for i, t := range terms {
		word, n := match(userMark(user), t), rankedTurns+1
		if _, common := s.common.get(word); !common {
			if n, err = s.countOne(ctx, word, 0); err != nil {
				return nil, err
			}
			if n > rankedTurns {
				s.common.put(word, notCounted)
			}
		}
		list[i] = counted{t, n}
	}
	return list, nil
}

const storedQuery = `SELECT count(*) FROM (SELECT 1 FROM docs WHERE user = ? LIMIT ?)`

// stored counts a user's turns, up to as many as make even the most common word that is counted one
// that tells something.
func (s *store) stored(ctx context.Context, user int64) (n int, err error) {
	const most = commonShare * (rankedTurns + 1)
	if s.common.isLarge(user) {
		return most, nil
	}
	if err = s.countStored.QueryRowContext(ctx, user, most).Scan(&n); n == most {
		s.common.setLarge(user)
	}
	return n, err
}

const countQuery = `SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? AND rowid > ? LIMIT ?)`

func (s *store) countOne(ctx context.Context, word string, after int64) (n int, err error) {
	err = s.countWords.QueryRowContext(ctx, word, after, rankedTurns+1).Scan(&n)
	return n, err
}

// turnsQuery ranks by FTS5's BM25 (k1 1.2, b 0.75); a word of the input weighs as much as two of the
// response. The join asks again whose the turn is, for the words alone to be trusted with nothing.
const turnsQuery = `SELECT docs.turn FROM words CROSS JOIN docs ON docs.turn = words.rowid
	WHERE words MATCH ? AND words.rowid > ? AND docs.user = ? AND docs.session <> ?
	ORDER BY bm25(words, 2.0, 1.0), docs.turn DESC LIMIT ?`

// turns returns the turns after one that hold any of the terms, the best first.
func (s *store) turns(ctx context.Context, user int64, session string, terms []counted, after int64) (turns []int64, err error) {
	if len(terms) == 0 {
		return nil, nil
	}
	rows, err := s.findTurns.QueryContext(ctx, match(userMark(user), terms...), after, user, session, candidates)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var turn int64
		if err := rows.Scan(&turn); err != nil {
			return nil, err
		}
		turns = append(turns, turn)
	}
	return turns, rows.Err()
}

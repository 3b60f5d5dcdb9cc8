package memory

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// modelKept is how long the vectors of a model are kept that no engine uses.
const modelKept = 30 * 24 * time.Hour

// backlog is which turns have no vector yet, as the goroutine that embeds them knows: those after top
// haven't been looked at, nor those before bottom.
type backlog struct {
	store       *store // that the rest is about; only compared
	fileID      string
	model       int64 // 0 while it has no vectors
	top, bottom int64 // entries of the journal
}

// batch is a number of turns that get their vectors together.
type batch struct {
	fileID string
	turns  []int64
	seqs   []int64
	fresh  bool // from after top
}

// embedAll gets the missing vectors whenever a Retrieve has looked at the journal, until none is
// missing or the model fails.
func (x *Index) embedAll() {
	var b backlog
	for {
		select {
		case <-x.ctx.Done():
			return
		case <-x.requests:
		}
		for more := true; more; {
			var err error
			if more, err = x.embedBatch(x.ctx, &b); err != nil && x.ctx.Err() == nil {
				x.log.Warn("past turns get no vectors for now; the next chat tries again", "model", x.options.EmbeddingModel, "error", err)
			}
		}
	}
}

// embedBatch gets the vectors of the next turns. It reports whether there may be more.
func (x *Index) embedBatch(ctx context.Context, b *backlog) (more bool, err error) {
	next, texts, err := x.pending(ctx, b)
	if err != nil || len(next.turns) == 0 {
		return false, err
	}
	vectors, err := x.embedTurns(ctx, texts)
	if err != nil {
		return false, err
	}
	x.files.RLock()
	defer x.files.RUnlock()
	if x.store == nil || x.store != b.store {
		return true, nil
	}
	if err := x.store.save(ctx, x.options.EmbeddingModel, next, vectors); err != nil {
		return false, err
	}
	b.done(next)
	x.log.Debug("past turns got vectors", "turns", len(next.turns), "model", x.options.EmbeddingModel)
	return true, nil
}

// done moves the marks behind a batch.
func (b *backlog) done(next batch) {
	if last := next.seqs[len(next.seqs)-1]; next.fresh {
		b.top = last
	} else {
		b.bottom = last
	}
}

// renew begins anew when the index, its sessions file or the model is another one.
func (b *backlog) renew(ctx context.Context, s *store, name string, dimensions int) error {
	fileID, seq, err := position(ctx, s.read)
	if err != nil {
		return err
	}
	model, err := s.modelInUse(ctx, name, dimensions)
	if err != nil {
		return err
	}
	if b.store != s || b.fileID != fileID || b.model != model || seq < b.top {
		*b = backlog{store: s, fileID: fileID, model: model, top: seq, bottom: seq + 1}
	}
	return nil
}

// pending returns the next turns without vectors, with their texts: first those that came since, then
// the older ones, the newest first.
func (x *Index) pending(ctx context.Context, b *backlog) (batch, map[int64]string, error) {
	x.files.RLock()
	defer x.files.RUnlock()
	if x.store == nil || x.source == nil {
		return batch{}, nil, nil
	}
	if err := b.renew(ctx, x.store, x.options.EmbeddingModel, int(x.dimensions.Load())); err != nil {
		return batch{}, nil, err
	}
	next := batch{fileID: b.fileID, fresh: true}
	if err := x.store.without(ctx, freshQuery, b.model, b.top, &next); err != nil {
		return batch{}, nil, err
	}
	if len(next.turns) == 0 {
		next.fresh = false
		if err := x.store.without(ctx, olderQuery, b.model, b.bottom, &next); err != nil {
			return batch{}, nil, err
		}
		if len(next.turns) == 0 {
			b.bottom = 0
		}
	}
	texts, err := x.source.texts(ctx, next.turns)
	return next, texts, err
}

const (
	freshQuery = `SELECT turn, seq FROM docs WHERE seq > ?2
		AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.turn = docs.turn AND v.model = ?1) ORDER BY seq LIMIT ?3`
	olderQuery = `SELECT turn, seq FROM docs WHERE seq < ?2
		AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.turn = docs.turn AND v.model = ?1) ORDER BY seq DESC LIMIT ?3`
)

// without adds turns that have no vector of a model to a batch.
func (s *store) without(ctx context.Context, query string, model, mark int64, next *batch) error {
	rows, err := s.read.QueryContext(ctx, query, model, mark, batchTexts)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var turn, seq int64
		if err := rows.Scan(&turn, &seq); err != nil {
			return err
		}
		next.turns, next.seqs = append(next.turns, turn), append(next.seqs, seq)
	}
	return rows.Err()
}

// embedTurns returns a vector for each text, nil for one that the model can't read. When the model
// fails on all together, each is tried alone, and where all fail, a word tells whether the model does.
func (x *Index) embedTurns(ctx context.Context, texts map[int64]string) (map[int64][]float32, error) {
	vectors := make(map[int64][]float32, len(texts))
	if len(texts) == 0 {
		return vectors, nil
	}
	var turns []int64
	var list []string
	for turn, text := range texts {
		turns, list = append(turns, turn), append(list, text)
	}
	all, err := x.embedInTime(ctx, list)
	if err == nil {
		for i, turn := range turns {
			vectors[turn] = all[i]
		}
		return vectors, nil
	}
	if _, broken := x.embedInTime(ctx, []string{"memory"}); broken != nil {
		return nil, errors.Join(err, broken)
	}
	for i, turn := range turns {
		one, err := x.embedInTime(ctx, list[i:i+1])
		if err != nil {
			x.log.Debug("a past turn gets no vector", "turn", turn, "error", err)
			one = [][]float32{nil}
		}
		vectors[turn] = one[0]
	}
	return vectors, context.Cause(ctx)
}

func (x *Index) embedInTime(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	return x.embed(ctx, texts)
}

const modelQuery = `SELECT coalesce((SELECT id FROM models WHERE name = ? AND dimensions = ?), 0)`

// model returns the number of a model, 0 when it has no vectors.
func (s *store) model(ctx context.Context, name string, dimensions int) (id int64, err error) {
	err = s.read.QueryRowContext(ctx, modelQuery, name, dimensions).Scan(&id)
	return id, err
}

// modelInUse returns the number of a model, 0 when it has no vectors. While its dimensions aren't known
// (0) it is the one that was last used under the name.
func (s *store) modelInUse(ctx context.Context, name string, dimensions int) (id int64, err error) {
	if dimensions > 0 {
		return s.model(ctx, name, dimensions)
	}
	err = s.read.QueryRowContext(ctx, `SELECT coalesce((SELECT id FROM models WHERE name = ? ORDER BY used DESC, id DESC), 0)`, name).Scan(&id)
	return id, err
}

// save stores the vectors of a batch, unless the index is about another sessions file by now.
func (s *store) save(ctx context.Context, name string, next batch, vectors map[int64][]float32) error {
	dimensions := 0
	for _, v := range vectors {
		dimensions = max(dimensions, len(v))
	}
	if dimensions == 0 {
		return nil
	}
	return s.transact(ctx, func(tx *sql.Tx) error {
		fileID, _, err := position(ctx, tx)
		if err != nil || fileID != next.fileID {
			return err
		}
		model, err := useModel(ctx, tx, name, dimensions)
		if err != nil {
			return err
		}
		for turn, v := range vectors {
			_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO vectors (model, user, turn, signs, vector)
				SELECT ?, user, turn, ?, ? FROM docs WHERE turn = ?`, model, encodeSigns(signsOf(v)), encodeVector(v), turn)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// useModel returns the number of a model that is in use now, and forgets those that aren't any more.
func useModel(ctx context.Context, tx *sql.Tx, name string, dimensions int) (id int64, err error) {
	now := time.Now()
	err = tx.QueryRowContext(ctx, `INSERT INTO models (name, dimensions, used) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET used = excluded.used RETURNING id`, name, dimensions, now.Unix()).Scan(&id)
	if err != nil {
		return 0, err
	}
	old := now.Add(-modelKept).Unix()
	_, err = tx.ExecContext(ctx, `DELETE FROM vectors WHERE model IN (SELECT id FROM models WHERE used < ?1);
		DELETE FROM models WHERE used < ?1`, old)
	return id, err
}

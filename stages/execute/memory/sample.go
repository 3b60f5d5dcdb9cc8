package memory

import (
	"context"
	"database/sql"
	"encoding/json"
)

// floor returns the cosine from which on a turn has to do with v. list are those nearest to it, which
// in a small table are all.
func (t *signTable) floor(ctx context.Context, s *store, list []scored, v []float32) (float32, error) {
	var cosines []float32
	if len(t.ids) <= rescored {
		for _, one := range list {
			cosines = append(cosines, one.cosine)
		}
		return floorOf(cosines, len(t.ids)), nil
	}
	if err := t.resample(ctx, s); err != nil {
		return 0, err
	}
	for _, one := range t.sample {
		cosines = append(cosines, product(v, one))
	}
	return floorOf(cosines, len(t.ids)), nil
}

// resample makes the sample, unless the one that there is was made of about as many vectors.
func (t *signTable) resample(ctx context.Context, s *store) error {
	if t.made*3/4 <= len(t.ids) && len(t.ids) <= t.made*5/4 {
		return nil
	}
	ids := make([]int64, sampled)
	for i := range ids {
		ids[i] = t.ids[i*len(t.ids)/sampled]
	}
	var sample [][]float32
	err := s.vectors(ctx, ids, func(_, _ int64, encoded []byte) { sample = append(sample, decodeVector(encoded)) })
	if err == nil {
		t.sample, t.made = sample, len(t.ids)
	}
	return err
}

// rescore returns the vectors that are still there with their cosines.
func (s *store) rescore(ctx context.Context, ids []int64, v []float32) (list []scored, err error) {
	list = make([]scored, 0, len(ids))
	err = s.vectors(ctx, ids, func(id, turn int64, encoded []byte) {
		list = append(list, scored{id, turn, cosine(v, encoded)})
	})
	return list, err
}

const vectorsQuery = `SELECT id, turn, vector FROM vectors WHERE id IN (SELECT value FROM json_each(?))`

// vectors calls yield with each vector that is still there, encoded; yield must not keep it.
func (s *store) vectors(ctx context.Context, ids []int64, yield func(id, turn int64, encoded []byte)) error {
	wanted, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	rows, err := s.findVectors.QueryContext(ctx, string(wanted))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, turn int64
		var encoded sql.RawBytes
		if err := rows.Scan(&id, &turn, &encoded); err != nil {
			return err
		}
		yield(id, turn, encoded)
	}
	return rows.Err()
}

package memory

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
)

const (
	// rescored is how many turns with the nearest signs are ranked by their vectors. 256 for the 50
	// that are wanted keep what an exact search finds (see TestSignsKeepTheNearest).
	rescored = 256
	// signTurns is how many of a user's vectors are searched, the latest made: 19 MB of signs at 384
	// dimensions.
	signTurns = 1 << 18
	// signTables is how many users' signs are kept.
	signTables = 8
)

// signKey is whose signs, of which model.
type signKey struct{ model, user int64 }

// signCache keeps the signs of users that were asked for lately.
type signCache struct {
	mutex  sync.Mutex // guards tables and latest
	tables map[signKey]*signTable
	latest []signKey // the one asked for last is last
}

// signTable holds the signs of a user's vectors of one model.
type signTable struct {
	mutex    sync.Mutex // guards the fields below
	words    int        // of one vector
	ids      []int64    // of vectors, rising; turns and sessions are of the same length
	sessions []int
	signs    []uint64 // words for each id
	names    map[string]int
	last     int64 // id up to which vectors were read

	sample [][]float32 // vectors from all over the table; only what is typical is told from them
	made   int         // how many ids there were when the sample was made
}

// table returns the table of a key, which may be empty.
func (c *signCache) table(key signKey, words int) *signTable {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.latest = append(slices.DeleteFunc(c.latest, func(k signKey) bool { return k == key }), key)
	if len(c.latest) > signTables {
		delete(c.tables, c.latest[0])
		c.latest = slices.Delete(c.latest, 0, 1)
	}
	if c.tables == nil {
		c.tables = map[signKey]*signTable{}
	}
	if c.tables[key] == nil {
		c.tables[key] = &signTable{words: words, names: map[string]int{}}
	}
	return c.tables[key]
}

func (c *signCache) forgetAll() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.tables, c.latest = nil, nil
}

// nearest returns the turns whose vectors are nearest to the unit vector v, nearest first, and the
// cosine from which on one has to do with it.
func (t *signTable) nearest(ctx context.Context, s *store, key signKey, session string, v []float32) ([]scored, float32, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if err := t.load(ctx, s, key); err != nil {
		return nil, 0, err
	}
	for {
		ids := t.near(signsOf(v), session)
		list, err := s.rescore(ctx, ids, v)
		if err != nil {
			return nil, 0, err
		}
		// Vectors of deleted turns are noticed here; when they were many, others stand behind them.
		if t.remove(ids, list) == 0 || len(list) >= candidates {
			floor, err := t.floor(ctx, s, list, v)
			return best(list, candidates), floor, err
		}
	}
}

const signsQuery = `SELECT v.id, docs.session, v.signs FROM vectors v INDEXED BY vectors_user CROSS JOIN docs ON docs.turn = v.turn
	WHERE v.model = ? AND v.user = ? AND v.id > ? ORDER BY v.id`

const signsFloorQuery = `SELECT coalesce((SELECT id FROM vectors INDEXED BY vectors_user
	WHERE model = ? AND user = ? ORDER BY id DESC LIMIT 1 OFFSET ?), 0)`

// load reads the signs that were stored since the last time.
func (t *signTable) load(ctx context.Context, s *store, key signKey) error {
	if len(t.ids) > signTurns {
		half := len(t.ids) - signTurns/2
		t.ids, t.sessions = slices.Delete(t.ids, 0, half), slices.Delete(t.sessions, 0, half)
		t.signs = slices.Delete(t.signs, 0, half*t.words)
	}
	if t.last == 0 {
		if err := s.read.QueryRowContext(ctx, signsFloorQuery, key.model, key.user, signTurns).Scan(&t.last); err != nil {
			return err
		}
	}
	rows, err := s.read.QueryContext(ctx, signsQuery, key.model, key.user, t.last)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var session string
		var signs []byte
		if err := rows.Scan(&id, &session, &signs); err != nil {
			return err
		}
		t.add(id, session, signs)
	}
	return rows.Err()
}

// add adds a vector's signs. Those of a text that has no vector are of no length.
func (t *signTable) add(id int64, session string, signs []byte) {
	t.last = id
	if len(signs) != 8*t.words {
		return
	}
	name, known := t.names[session]
	if !known {
		name = len(t.names)
		t.names[session] = name
	}
	t.ids, t.sessions = append(t.ids, id), append(t.sessions, name)
	for ; len(signs) > 0; signs = signs[8:] {
		t.signs = append(t.signs, binary.LittleEndian.Uint64(signs))
	}
}

// near returns the ids, at most rescored, whose signs differ least from the query's, but for those of
// a session.
func (t *signTable) near(query []uint64, session string) []int64 {
	own, known := t.names[session]
	if !known {
		own = -1
	}
	distances := make([]int32, len(t.ids))
	histogram := make([]int, 64*t.words+1)
	for i := range t.ids {
		if t.sessions[i] == own {
			distances[i] = -1
			continue
		}
		d := distance(query, t.signs[i*t.words:(i+1)*t.words])
		distances[i] = int32(d)
		histogram[d]++
	}
	limit, within := nearer(histogram)
	var ids []int64
	for i := len(distances) - 1; i >= 0; i-- {
		switch d := int(distances[i]); {
		case d < 0 || d > limit:
		case d < limit:
			ids = append(ids, t.ids[i])
		case within > 0:
			within--
			ids = append(ids, t.ids[i])
		}
	}
	return ids
}

// nearer returns the distance up to which entries are wanted, and how many of those at it.
func nearer(histogram []int) (limit, within int) {
	room := rescored
	for d, n := range histogram {
		if n >= room {
			return d, room
		}
		room -= n
	}
	return len(histogram), 0
}

// remove forgets the ids that weren't found, and returns how many.
func (t *signTable) remove(ids []int64, found []scored) int {
	if len(ids) == len(found) {
		return 0
	}
	gone := map[int64]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	for _, one := range found {
		delete(gone, one.id)
	}
	kept := 0
	for i, id := range t.ids {
		if gone[id] {
			continue
		}
		t.ids[kept], t.sessions[kept] = id, t.sessions[i]
		copy(t.signs[kept*t.words:(kept+1)*t.words], t.signs[i*t.words:(i+1)*t.words])
		kept++
	}
	t.ids, t.sessions, t.signs = t.ids[:kept], t.sessions[:kept], t.signs[:kept*t.words]
	return len(gone)
}

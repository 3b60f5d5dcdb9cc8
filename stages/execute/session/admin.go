package session

import (
	"context"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/internal/wire"
)

// Summary is what is known of a session without reading it.
type Summary struct {
	User, Session string
	Turns         int
	// ID is that of the oldest turn, which began at Begun; Agent had the newest.
	ID    int64
	Begun time.Time
	Agent string
	// Last is when the newest turn ended, or began when it has not.
	Last time.Time
	// First is the beginning of the first input.
	First string
}

// firstChars is how many characters of the first input a summary has.
const firstChars = 200

// beginning returns the first characters of a text of which the end may be cut.
func beginning(text []byte) string {
	n := 0
	for range firstChars {
		_, size := utf8.DecodeRune(text[n:])
		if !utf8.FullRune(text[n:]) {
			break
		}
		n += size
	}
	return string(text[:n])
}

const summaries = `SELECT session_id, count(*), max(coalesce(ended, started)),
	(SELECT substr(CAST(f.input AS BLOB), 1, ?) FROM turns AS f WHERE f.user_id = turns.user_id AND f.session_id = turns.session_id ORDER BY f.id LIMIT 1),
	min(id), min(started),
	(SELECT CAST(f.agent AS BLOB) FROM turns AS f WHERE f.user_id = turns.user_id AND f.session_id = turns.session_id ORDER BY f.id DESC LIMIT 1)
	FROM turns WHERE user_id = ? GROUP BY session_id ORDER BY 3 DESC, 1`

// List returns the user's sessions, the one used last first.
func (s *Store) List(ctx context.Context, user string) (list []Summary, err error) {
	list, err = readFrom(ctx, s, func(from source) (list []Summary, err error) {
		err = eachRow(ctx, from.query, summaries, func(f *fields) {
			one := Summary{User: user, Session: f.text(), Turns: int(f.number()), Last: time.UnixMilli(f.number())}
			first, _ := f.next().([]byte)
			one.First = beginning(first)
			one.ID, one.Begun = f.number(), time.UnixMilli(f.number())
			agent, _ := f.next().([]byte)
			one.Agent = strings.ToValidUTF8(string(agent), "\ufffd")
			list = append(list, one)
		}, firstChars*utf8.UTFMax, user)
		return list, err
	})
	return list, told(ctx, err, "the sessions can't be read", s.file())
}

// Turns returns a session's turns whole, oldest first, and says of each that can't be read why.
func (s *Store) Turns(ctx context.Context, user, session string) (turns []wire.Turn, damaged map[int64]string, err error) {
	read, err := readFrom(ctx, s, func(from source) (loaded, error) {
		return load(ctx, from, span{key{user, session}, 0, math.MaxInt64}, 0)
	})
	return read.turns, read.damaged, told(ctx, err, "the session can't be read", s.file())
}

// Delete deletes a session and returns how many turns it had. Its text is overwritten in the file. A
// session that a chat has is not deleted: ErrInUse.
func (s *Store) Delete(ctx context.Context, user, session string) (turns int, err error) {
	k := key{user, session}
	turns, err = ask(ctx, s, func(b *base) (turns int, err error) {
		switch l, ok, err := readLease(b.connection, k); {
		case err != nil:
			return 0, err
		case ok && (l.owner == b.engine.id || b.engine.binds(l, time.Now())):
			return 0, ErrInUse
		}
		turns, err = deleteSession(b.connection, k)
		b.scrub = turns > 0
		return turns, err
	})
	return turns, told(ctx, err, "the session can't be deleted", s.file())
}

const turnsOf = "SELECT id FROM turns WHERE user_id = ? AND session_id = ?"

func deleteSession(c *connection, k key) (turns int, err error) {
	if err := c.script("PRAGMA secure_delete=ON"); err != nil {
		return 0, err
	}
	defer func() { _ = c.script("PRAGMA secure_delete=OFF") }()
	var ids []int64
	if err := eachRow(context.Background(), c.query, turnsOf, func(f *fields) { ids = append(ids, f.number()) }, k.user, k.session); err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := deleteTurn(c, id); err != nil {
			return 0, err
		}
		if err := journal(c, id, true); err != nil {
			return 0, err
		}
	}
	_, err = c.exec("DELETE FROM leases WHERE user_id = ? AND session_id = ?", k.user, k.session)
	return len(ids), err
}

package session

import (
	"context"
	"time"
)

const (
	leaseTime = 15 * time.Second
	renewTime = 4 * time.Second
)

// lease is a chat's hold on a session, as the file tells it.
type lease struct {
	owner   string
	token   int64
	expires int64 // unix ms
}

// held names a lease of this engine.
type held struct {
	key
	token int64
}

const findLease = "SELECT owner, token, expires FROM leases WHERE user_id = ? AND session_id = ?"

// readLease returns who has a session; ok is false when nobody has. A lease that can't be read binds
// nobody.
func readLease(c *connection, k key) (l lease, ok bool, err error) {
	err = eachRow(context.Background(), c.query, findLease, func(f *fields) {
		l = lease{f.text(), f.number(), f.number()}
		ok = f.bad == ""
	}, k.user, k.session)
	return l, ok, err
}

// binds reports whether the lease binds an engine other than e: one that isn't known to be dead, whose
// lease hasn't expired.
func (e *engine) binds(l lease, now time.Time) bool {
	return l.owner != e.id && now.UnixMilli() < l.expires && !e.dead(l.owner)
}

// takeLease makes the session the chat's in the file; errHeld when another engine has it. This
// engine's own chats stand in a queue, so a lease of its own that is in the way was left behind.
func (e *engine) takeLease(c *connection, k key, token int64, now time.Time) error {
	l, ok, err := readLease(c, k)
	if err != nil {
		return err
	}
	if ok && e.binds(l, now) {
		return errHeld
	}
	e.left = true
	_, err = c.exec("INSERT INTO leases(user_id, session_id, owner, token, expires) VALUES(?,?,?,?,?)"+
		" ON CONFLICT DO UPDATE SET owner = excluded.owner, token = excluded.token, expires = excluded.expires",
		k.user, k.session, e.id, token, now.Add(leaseTime).UnixMilli())
	return err
}

// hasLease reports whether the session is still the chat's. An expired lease that nobody took is.
func (e *engine) hasLease(c *connection, k key, token int64) (bool, error) {
	l, ok, err := readLease(c, k)
	return ok && l.owner == e.id && l.token == token, err
}

func (e *engine) dropLease(c *connection, k key, token int64) error {
	_, err := c.exec("DELETE FROM leases WHERE user_id = ? AND session_id = ? AND owner = ? AND token = ?", k.user, k.session, e.id, token)
	return err
}

func (e *engine) releaseRest(c *connection) error {
	for len(e.unreleased) > 0 {
		rest := e.unreleased[0]
		if err := e.dropLease(c, rest.key, rest.token); err != nil {
			return err
		}
		e.unreleased = e.unreleased[1:]
	}
	return nil
}

func (e *engine) renewLeases(c *connection, now time.Time) error {
	_, err := c.exec("UPDATE leases SET expires = ? WHERE owner = ?", now.Add(leaseTime).UnixMilli(), e.id)
	return err
}

func (e *engine) dropLeases(c *connection) error {
	_, err := c.exec("DELETE FROM leases WHERE owner = ?", e.id)
	if err == nil {
		e.left, e.unreleased = false, nil
	}
	return err
}

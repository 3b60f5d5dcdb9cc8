package session

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks a SQLite file as ours (PRAGMA application_id): "SLSS".
const applicationID = 0x534c5353

// pragmas are set on every connection. Cell sizes are checked so that a damaged page is met as damage
// and not as odd data. A WAL that a large result made long is cut when it starts anew.
const pragmas = "&_pragma=synchronous(NORMAL)&_pragma=cell_size_check(1)" +
	"&_pragma=journal_size_limit(16777216)&_pragma=temp_store(MEMORY)&_dqs=0"

// migrations bring a file from the version (PRAGMA user_version) that is their index to the next; the
// first makes the tables. meta, turns and journal are read by the package memory, too.
var migrations = []string{`
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE turns(
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id TEXT NOT NULL, session_id TEXT NOT NULL,
	trace_id TEXT NOT NULL, agent TEXT NOT NULL, input TEXT NOT NULL,
	started INTEGER NOT NULL, -- unix ms
	ended INTEGER,            -- unix ms; NULL until the turn ended
	status TEXT NOT NULL, response TEXT NOT NULL,
	begin_sum INTEGER NOT NULL, -- CRC-32C of what Begin stored
	end_sum INTEGER NOT NULL    -- CRC-32C of status and response
);
CREATE INDEX turns_of_session ON turns(user_id, session_id);
-- One row whenever a turn ended or was deleted.
CREATE TABLE journal(seq INTEGER PRIMARY KEY AUTOINCREMENT, turn_id INTEGER NOT NULL, deleted INTEGER NOT NULL);
CREATE TABLE steps(
	turn_id INTEGER NOT NULL, number INTEGER NOT NULL,
	text TEXT NOT NULL, calls INTEGER NOT NULL, -- how many calls the step has
	sum INTEGER NOT NULL,
	PRIMARY KEY(turn_id, number)
);
CREATE TABLE calls(
	turn_id INTEGER NOT NULL, step INTEGER NOT NULL, idx INTEGER NOT NULL,
	call_id TEXT NOT NULL, function TEXT NOT NULL, arguments TEXT NOT NULL, tool TEXT NOT NULL,
	sum INTEGER NOT NULL,
	started INTEGER NOT NULL, -- 0 or 1
	PRIMARY KEY(turn_id, step, idx)
);
CREATE TABLE results(
	turn_id INTEGER NOT NULL, step INTEGER NOT NULL, idx INTEGER NOT NULL,
	status TEXT NOT NULL, text TEXT NOT NULL,
	retryable INTEGER NOT NULL, took INTEGER NOT NULL, -- ns
	sum INTEGER NOT NULL,
	PRIMARY KEY(turn_id, step, idx)
);
-- Who has a session: an engine, and which of its chats.
CREATE TABLE leases(
	user_id TEXT NOT NULL, session_id TEXT NOT NULL,
	owner TEXT NOT NULL, token INTEGER NOT NULL,
	expires INTEGER NOT NULL, -- unix ms
	PRIMARY KEY(user_id, session_id)
) WITHOUT ROWID;
CREATE INDEX leases_of_owner ON leases(owner);
-- Rows that could not be read, as they were found: the columns of source in their order.
CREATE TABLE damaged(
	id INTEGER PRIMARY KEY, moved INTEGER NOT NULL, reason TEXT NOT NULL, source TEXT NOT NULL,
	c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12
);`}

// migrate brings the tables to the version that the last of the steps makes, in one transaction.
func migrate(c *connection, steps []string) error {
	version, err := c.number("PRAGMA user_version")
	if err != nil || version >= int64(len(steps)) {
		return err
	}
	return c.transact(func() error {
		for _, step := range steps[version:] {
			if err := c.script(step); err != nil {
				return err
			}
		}
		if version == 0 {
			if err := identify(c); err != nil {
				return err
			}
		}
		return c.script(fmt.Sprintf("PRAGMA user_version=%d", len(steps)))
	})
}

// identify gives a new file its identity.
func identify(c *connection) error {
	if err := c.script(fmt.Sprintf("PRAGMA application_id=%d", applicationID)); err != nil {
		return err
	}
	_, err := c.exec("INSERT INTO meta(key, value) VALUES('file_id', ?), ('made', ?)", randomName(), time.Now().UTC().Format(time.RFC3339))
	return err
}

// verify checks that the file is one of ours and can be used. It returns errForeign, errNewer or an
// error of SQLite.
func verify(c *connection) error {
	id, err := c.number("PRAGMA application_id")
	if err != nil {
		return err
	}
	if id != applicationID {
		return errForeign
	}
	version, err := c.number("PRAGMA user_version")
	switch {
	case err != nil:
		return err
	case version > int64(len(migrations)):
		return errNewer
	case version < 1:
		return errForeign
	}
	if _, err := c.text("SELECT value FROM meta WHERE key = 'file_id'"); err != nil {
		return asForeign(err)
	}
	_, err = c.number("SELECT count(*) FROM leases") // reads the whole schema
	return asForeign(err)
}

// asForeign tells a table or a row that isn't there from damage below.
func asForeign(err error) error {
	if errors.Is(err, sql.ErrNoRows) || codeOf(err) == sqlite3.SQLITE_ERROR {
		return errForeign
	}
	return err
}

package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// connection is one connection with the statements that were prepared on it. It belongs to one
// goroutine.
type connection struct {
	db       *sql.DB
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

// busyTimeout is how long SQLite waits for a file that is busy, in ms.
const busyTimeout = "&_pragma=busy_timeout(%d)"

// connect opens a connection to the file, which must exist, or to a new database in memory when path
// is empty. Nothing is read yet.
func connect(path string) (*connection, error) {
	db, err := sql.Open("sqlite", dataSource(path)+pragmas+fmt.Sprintf(busyTimeout, busyStep.Milliseconds()))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(context.Background())
	if err != nil {
		db.Close()
		return nil, err
	}
	return &connection{db: db, conn: conn, prepared: map[string]*sql.Stmt{}}, nil
}

// dataSource names a database as SQLite's URIs do (https://www.sqlite.org/uri.html). mode=rw keeps
// SQLite from making a file, whose name another may have taken away meanwhile.
func dataSource(path string) string {
	if path == "" {
		return "file::memory:?mode=memory"
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive letter
		path = "/" + path
	}
	name := url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw"}
	return name.String()
}

func (c *connection) close() error {
	for _, statement := range c.prepared {
		statement.Close()
	}
	return errors.Join(c.conn.Close(), c.db.Close())
}

func (c *connection) statement(query string) (*sql.Stmt, error) {
	if statement := c.prepared[query]; statement != nil {
		return statement, nil
	}
	statement, err := c.conn.PrepareContext(context.Background(), query)
	if err == nil {
		c.prepared[query] = statement
	}
	return statement, err
}

// exec runs a statement, kept prepared, and returns how many rows it changed.
func (c *connection) exec(query string, args ...any) (int64, error) {
	result, err := c.run(query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// insert runs an INSERT, kept prepared, and returns the new row's id.
func (c *connection) insert(query string, args ...any) (int64, error) {
	result, err := c.run(query, args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func (c *connection) run(query string, args ...any) (sql.Result, error) {
	statement, err := c.statement(query)
	if err != nil {
		return nil, err
	}
	return statement.Exec(args...)
}

// query implements rowSource. ctx is not for the writer's connection: an interrupted statement would
// take the transaction with it.
func (c *connection) query(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := c.statement(query)
	if err != nil {
		return nil, err
	}
	return statement.Query(args...)
}

func (c *connection) row(query string, args ...any) *sql.Row {
	statement, err := c.statement(query)
	if err != nil { // says the same, as a row
		return c.conn.QueryRowContext(context.Background(), query, args...)
	}
	return statement.QueryRow(args...)
}

func (c *connection) number(query string, args ...any) (n int64, err error) {
	err = c.row(query, args...).Scan(&n)
	return n, err
}

func (c *connection) text(query string, args ...any) (text string, err error) {
	err = c.row(query, args...).Scan(&text)
	return text, err
}

// script runs statements that are not kept.
func (c *connection) script(text string) error {
	_, err := c.conn.ExecContext(context.Background(), text)
	return err
}

// transact runs a function in a transaction of its own.
func (c *connection) transact(run func() error) error {
	if err := c.begin(); err != nil {
		return err
	}
	if err := run(); err != nil {
		c.rollback()
		return err
	}
	return c.commit()
}

// begin starts a transaction that can write, so that it need not become one later, when another
// engine's may have come between.
func (c *connection) begin() error {
	_, err := c.run("BEGIN IMMEDIATE")
	return err
}

func (c *connection) rollback() { _, _ = c.run("ROLLBACK") } // SQLite may have done so itself

func (c *connection) commit() error {
	_, err := c.run("COMMIT")
	if err != nil {
		c.rollback()
	}
	return err
}

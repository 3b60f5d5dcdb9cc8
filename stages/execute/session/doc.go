// Package session keeps agent turns per user and session in one SQLite file, sessions.db, which all
// engines of a user share: what was said, each finished step with its tool calls and their results,
// so that an interrupted turn can go on where it was.
//
// What it promises: once a write returned nil, a kill of the engine (kill -9) loses nothing of it.
// The file runs in WAL mode with synchronous=NORMAL, which doesn't wait for the disk at each write:
// after a power failure the newest turns may be missing, but the file is whole.
//
// Concurrency law: one goroutine, the writer, owns the one connection that writes, the lease renewal
// and everything about opening, replacing and closing the file; it starts with the first use of a
// Store and ends in Close. Writes that wait at the same time share a transaction. Reads run on
// connections of their own, in the goroutine that asks. A Store is safe for concurrent use; a Session
// belongs to one goroutine. Every call returns when its ctx ends, whatever holds the file: a write of a
// turn then stays with the writer, which stores it when it can, before anything that came later.
//
// Who closes what: whoever opened a Session closes it, and whoever made a Store closes it after its
// sessions.
package session

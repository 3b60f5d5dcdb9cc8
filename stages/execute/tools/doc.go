// Package tools connects to MCP servers and runs their tools: it is what an agent's turn lists and calls.
//
// A server is started when it is first asked for, followed while it lives and started again when it
// ended. One start to one end is a life. What a server sends is not trusted: its lines, lists, schemas
// and results are bounded, and nothing it does or leaves undone keeps a caller longer than its timeout.
//
// Concurrency law: every method of [Manager] may be called from any goroutine. Each life is owned by one
// goroutine, which starts the process or connects, keeps the list of tools and, at the end, closes the
// connection and stops the process; a connection has two more, which read and write. Calls run in a
// goroutine of their own each, so that a caller can leave at once; the life's goroutine waits for them.
// No lock is held over I/O. [Manager.Close] ends all of them.
package tools

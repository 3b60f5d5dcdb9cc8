// Package llama is the source that streams from llama-server (llama.cpp): it spawns or attaches to a
// server, supervises it, hands out leases on its slots, and reads a chat completion's event stream
// into batches of tokens and pieces of tool calls. It also asks what a prompt takes and for embeddings.
//
// Concurrency law: the methods of [Server] may be called from any goroutine; its state lies behind one
// lock, which is never held during I/O. One goroutine owns each start and run of a spawned server,
// from its fork to its end; an attached server needs one only while it is checked. A [Lease] belongs to
// one chat: one goroutine streams on it, while Describe, Idle and Release may come from another.
// Whoever acquires a lease releases it; whoever makes a Server closes it, once its leases are released.
package llama

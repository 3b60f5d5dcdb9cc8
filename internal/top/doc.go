// Package top shows a running engine on a terminal: it asks the engine's debug server for its
// counters, makes rates of two answers and a page of text of both.
//
// Snapshot, Rates and the page are values made by functions without I/O or clock. Concurrency law:
// nothing here is shared; the screen belongs to Bubble Tea's one goroutine, and a Client, which keeps
// nothing but its connections, may be used from any. Whoever makes a Client closes it.
package top

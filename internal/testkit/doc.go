// Package testkit holds what tests of several packages share: readers of stdout whose pace a test
// sets, over real pipes, socket pairs and in memory, and the runner of golden transcripts.
//
// Concurrency law: a [Reader] may be used by any goroutine; one goroutine of its own reads, until its
// source ends or [Reader.Close]. The functions that take a testing.TB close what they opened when the
// test ends. Nothing here sleeps but to keep a pace that was asked for, and nothing waits but on
// conditions, so all of it also runs in a synctest bubble, where memory is the only pipe.
package testkit

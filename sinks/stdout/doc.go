// Package stdout is the last stage: a bounded, batching sink that never lets a slow reader stall a
// producer, never loses a guaranteed frame, and merges text instead of dropping it.
//
// Producers append to mailboxes under one short lock. The writer, the goroutine inside [Sink.Run],
// takes what gathered while its last write was under way as one contiguous piece and writes it
// without holding the lock. A producer that finds it idle writes a small piece itself, where
// [Options.TryWrite] can without waiting, and leaves the rest to it; never do two write at once.
// Nothing a producer calls ever waits for the reader.
//
// With Coalesce every request has a mailbox of its own: mailboxes are drained in turns, and frames
// of requests that have no event waiting overtake the events of others. With Drop all requests share
// one mailbox, a strict FIFO.
//
// Concurrency law: every method may be called from any goroutine. One goroutine at a time pushes to
// one [Lane]. The sink never closes the output; whoever opened it does.
package stdout

// Package logs is the engine's log: log/slog records as lines on stderr, through a bounded writer of
// their own. A reader of stderr that stands still costs log lines, which are counted and told once
// there is room again; it never stalls a caller. A stderr that is gone is harmless.
//
// Concurrency law: one goroutine per Writer owns the destination and makes every write to it; callers
// only append to a pending buffer under a short lock and never wait for a write. Close ends that
// goroutine, unless the destination itself never returns from a write: then Close gives up after its
// timeout and the goroutine ends with that write. The destination is never closed here.
package logs

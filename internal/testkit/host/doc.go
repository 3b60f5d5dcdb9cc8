// Package host is an engine's host for end-to-end tests: it spawns the built program on pipes or
// socket pairs, sends lines, reads at a pace that the test sets, and holds every line it reads to what
// the protocol promises of lines.
//
// Concurrency law: an [Engine] belongs to the test's goroutine, but for its methods Pause, Resume and
// Allow, which any goroutine may call. The test's cleanup kills what still runs and closes every end.
package host

// Package process starts child processes that never outlive this program, however it dies.
//
// Each child leads a process group of its own (a job object on Windows), so a terminal's Ctrl-C
// doesn't reach it. Three things end it, and what it started, with us: the parent-death signal where
// there is one (Linux); a guardian, which is this program run once more, that holds a pipe and kills
// what is left when the pipe closes; and the job object. On Linux each child also bears a marker, an
// environment variable with a random name that its descendants inherit, by which those are found that
// left the group (setsid, `set -m`). Elsewhere such descendants are out of reach.
//
// Concurrency law: every method may be called from any goroutine. A [Launcher] owns one thread, from
// which it forks, since Linux sends the parent-death signal when the forking thread ends; a [Process]
// owns one goroutine, which waits for the child. [Launcher.Close] ends both and the guardian. Files
// handed to a child stay the caller's, who closes its own copies once Start returned.
package process

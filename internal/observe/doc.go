// Package observe shows a running engine to the people who look for its stalls: a debug endpoint with
// counters, Prometheus metrics and profiles, the log of stalls, and a flight recorder that keeps the
// seconds before one.
//
// Concurrency law: every method may be called from any goroutine. Nothing here is called for a token:
// [Metrics.Wrote] is called once a write, [Stalls.Add] once a stall, and neither waits. [Server.Close]
// ends the goroutine of the server, [Recorder.Close] that of the recorder.
package observe

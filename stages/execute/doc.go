// Package execute serves the requests: one handler a method, one goroutine a running chat.
//
// Concurrency law: [Execute.Push] is called by the goroutine that reads stdin and never blocks for
// longer than a map look-up. Every accepted chat and warmup has a goroutine of its own, which alone
// hands over its events and its one final frame; [Execute.Wait] waits for all of them. What the
// stages need of models and output they get through the interfaces of interfaces.go.
package execute

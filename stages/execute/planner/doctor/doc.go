// Package doctor looks at everything that an engine needs before the first chat, and says what to do
// about what is missing. It never starts llama-server with a model and changes nothing: whatever a check
// needs of the outside is handed to it, and made to be looked at only.
//
// Concurrency law: [Run] gives each check a goroutine of its own and returns in bounded time, whatever
// hangs. A check that doesn't end with its context is left behind in its goroutine, which ends when
// what it waits for does; its result is dropped. Checks share nothing. Nothing here needs closing.
package doctor

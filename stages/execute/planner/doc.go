// Package planner says before anything is started whether a model runs on this machine, and how: it
// reads a GGUF file's header, estimates the memory that llama-server will need, and decides context
// size, slots, GPU layers and the type of the KV cache where the configuration leaves them open.
//
// The header is read by a bounded reader of our own, which believes no number in it; gguf-parser-go,
// which knows the architectures, then works on what was read and never opens the file. The package is
// platform-neutral but for how a file is opened; package machine knows this machine.
//
// Concurrency law: [Inspect] and the functions on its result are pure but for reading the file, which
// is closed before they return. A [Planner] may be used from any goroutine; it keeps what doesn't
// change about the machine and owns no goroutine. Nothing here needs closing.
package planner

// Package wire holds the vocabulary that the stages hand to each other: requests, tokens, events,
// frames, replies, faults, and the append-encoders for JSON text.
//
// Concurrency law: everything here is a plain value or a pure function; nothing starts a goroutine,
// takes a lock or does I/O. Batches ([Requests], [Tokens], [Events], [Frames]) are owned by the stage
// that fills them: whoever receives one may read it until the call returns and copies what it keeps.
package wire

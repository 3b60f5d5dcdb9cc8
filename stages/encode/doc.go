// Package encode renders events and replies as the lines of a protocol: one file per protocol and
// direction of detail, append-encoders without reflection. Text arrives escaped and is copied.
//
// Concurrency law: pure functions and values. An [Events] encoder belongs to the goroutine of its
// chat; only its deferred lines are rendered by the writer, and they touch nothing that changes.
package encode

// Package keychain keeps secrets in the operating system's keychain: the Secret Service on Linux and the
// BSDs, the Keychain on macOS, the Credential Manager on Windows. There is no other place: what the
// keychain doesn't take is not kept, and every failure but a missing entry is an *Unavailable that says
// what to do.
//
// Concurrency law: a Keychain is safe for concurrent use. The system's calls know no context and may wait
// for a person who never comes, so each runs in a goroutine of its own that is abandoned when its time is
// over; at most four are under way at once, one of them a change, so that changes happen in order even
// when the first of them waits for an unlocking. Nothing is kept open but the session bus's connection,
// which the library below shares by the whole process.
package keychain

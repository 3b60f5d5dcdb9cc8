// Package profile keeps the gateways that a user has given names, and the sessions at them: config.json
// with the profiles and the configuration of local tools, sign-in, status and sign-out, and the tokens that
// calls to a gateway need. Tokens live in the operating system's keychain alone; they are in no file, no
// message and no log line.
//
// Concurrency law: all methods of Profiles and Session may be called by any goroutine. config.json is
// changed under a file lock, read and written whole, so engines that change it at once lose nothing. What
// may give a session a new token runs under the session's lock, one at a time over all engines of a user. A
// sign-out waits for none of it: a sign-in or renewal that it overtakes finds out before it stores anything. A
// renewal has a goroutine of its own, since the gateway's new token must be stored whoever still waits for it.
// Whoever calls New calls Close, which ends what runs. The keychain and the gateway belong to the caller.
package profile

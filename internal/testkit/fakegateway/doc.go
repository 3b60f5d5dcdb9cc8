// Package fakegateway is an XGEN gateway whose answers a test steers: sign-in, token rotation, agents,
// history and chat streams in the shapes of the gateway's contract. Words in a chat's input say what its
// stream brings, when, and what goes wrong (see script).
//
// Concurrency law: all methods of a [Server] may be called by any goroutine; each request runs in one of
// net/http's. The test that started a server has it closed by its cleanup, hung answers included. One in
// memory has no sockets and lives in a synctest bubble, reached by Dial.
package fakegateway

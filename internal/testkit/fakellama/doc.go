// Package fakellama is a llama-server whose answers a test steers: it speaks the real one's HTTP
// format over a real socket, as recorded from llama.cpp's server, and the text of the user says what
// comes, when, and what goes wrong.
//
// Concurrency law: all methods of a [Server] may be called by any goroutine; each request runs in one
// of net/http's. The test that started a server has it closed by its cleanup, hung answers included.
package fakellama

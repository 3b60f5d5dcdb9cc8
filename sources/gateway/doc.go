// Package gateway is the client side of a remote XGEN gateway: sign-in, agents, history, the stream of
// a chat. It turns the gateway's HTTP answers into the values of package wire, and its event stream into
// batches of tokens and finished events.
//
// Concurrency law: a [Client] and its [Account]s may be used by any goroutine; they hold no state but
// the connections. A [Stream] belongs to the goroutine that calls Run, which closes its connection. The
// mapping of frames (frames.go, tool.go, blocks.go, template.go) is pure. Whoever made the Client calls
// Close when no call runs any more. Tokens and passwords are in no message, error or log line.
package gateway

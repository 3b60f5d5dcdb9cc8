package observe

import (
	"net"
	"net/http"
	"sync/atomic"
)

// maxConnections is how many clients are served at once: some people, a scraper and a profile. Each
// holds a descriptor that the engine may need for a model server.
const maxConnections = 32

// crowd counts the open connections of a server and closes those that are too many at once.
type crowd struct{ open atomic.Int64 }

// changed is the server's ConnState hook. A connection that is closed here is told as closed too.
func (c *crowd) changed(connection net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if c.open.Add(1) > maxConnections {
			_ = connection.Close()
		}
	case http.StateClosed, http.StateHijacked:
		c.open.Add(-1)
	}
}

package demo

import (
	"context"
	"net"
	"sync"
)

// pipeListener accepts in-memory connections that dial makes. Connections are
// net.Pipe pairs: a write waits for its reader, as a full socket would.
type pipeListener struct {
	dialled chan net.Conn // server ends, unbuffered: whoever dials waits for Accept
	closed  chan struct{}
	close   func()
}

func newPipeListener() *pipeListener {
	closed := make(chan struct{})
	return &pipeListener{
		dialled: make(chan net.Conn),
		closed:  closed,
		close:   sync.OnceFunc(func() { close(closed) }),
	}
}

// dial returns the client end of a new connection, which the caller closes.
func (l *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	var err error
	select {
	case l.dialled <- server:
		return client, nil
	case <-l.closed:
		err = net.ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	client.Close()
	server.Close()
	return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: pipeAddr{}, Err: err}
}

// Accept waits for the next dial; after Close it returns net.ErrClosed.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.dialled:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and dial. Connections stay open.
func (l *pipeListener) Close() error {
	l.close()
	return nil
}

func (l *pipeListener) Addr() net.Addr {
	return pipeAddr{}
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "demo" }

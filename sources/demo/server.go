package demo

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// Options configure a demo server; the zero value is the default.
type Options struct {
	Model           *Model       // nil: Default()
	TokensPerSecond float64      // of each answer; 0: 200, which a person sees stream; negative: as fast as it is read
	Slots           int          // answers at once, others wait; 0: 16
	Logger          *slog.Logger // for faults of the HTTP server; nil discards
}

const (
	defaultTokensPerSecond = 200
	defaultSlots           = 16
)

// Server is a demo model behind an HTTP server that listens in memory only.
type Server struct {
	listener    *pipeListener
	http        *http.Server
	served      chan struct{}  // closed when Serve has returned
	connections sync.WaitGroup // those accepted and not yet served out
}

// Start serves the demo model until Close.
func Start(options Options) *Server {
	logger := options.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{listener: newPipeListener(), served: make(chan struct{})}
	s.http = &http.Server{
		Handler:   NewHandler(options),
		ConnState: s.trackConnection,
		ErrorLog:  slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	go func() {
		defer close(s.served)
		s.http.Serve(s.listener) // always http.ErrServerClosed: the listener has no other error
	}()
	return s
}

// trackConnection is called by the HTTP server: with StateNew before Serve accepts
// again, and with StateClosed when a connection's goroutine is about to return.
func (s *Server) trackConnection(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.connections.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.connections.Done()
	}
}

// DialContext connects to the server, whatever network and address say; it fits
// http.Transport. The caller closes the connection.
func (s *Server) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return s.listener.dial(ctx)
}

// Close breaks all connections off, waits until their requests have ended, and
// leaves no goroutine of the server behind. It may be called more than once.
func (s *Server) Close() error {
	s.listener.Close()
	err := s.http.Close()
	<-s.served
	s.connections.Wait()
	return err
}

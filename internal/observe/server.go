package observe

import (
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sluice/internal/wire"
)

const (
	// headerTimeout and idleTimeout bound how long a client that says nothing holds a connection, and
	// answerTimeout one that doesn't read; a profile adds the time that it was asked for.
	headerTimeout, answerTimeout, idleTimeout = 5 * time.Second, 30 * time.Second, time.Minute
	// maxHeaderBytes is room for a token and for what browsers send.
	maxHeaderBytes = 16 << 10
)

// Options are what the endpoint shows. Stats, Encode, Metrics and Stalls must be set.
type Options struct {
	// Token, when set, is wanted from every client.
	Token string
	// DataDir is where the run file goes; empty leaves it out.
	DataDir string
	Version string
	Bounds  Bounds
	// ChatStates are all states that a chat can be in.
	ChatStates []string
	// Stats returns the counters of this moment; Encode appends them as the JSON object that the method
	// stats returns.
	Stats   func() *wire.Stats
	Encode  func(dst []byte, stats *wire.Stats) []byte
	Metrics *Metrics
	Stalls  *Stalls
	Logger  *slog.Logger
}

// Bounds are the limits of what waits for stdout, of which the names are those of the configuration.
type Bounds struct {
	PendingBytes    int64 `json:"pending_bytes"`
	GuaranteedBytes int64 `json:"guaranteed_bytes"`
	QueueFrames     int   `json:"queue_frames"`
}

// Server is the debug endpoint.
type Server struct {
	options Options
	http    *http.Server
	run     runFile
	crowd   crowd
	ended   chan struct{} // closed by the server's goroutine
}

// Serve serves on the listener, which is the server's from here on, until Close.
func Serve(listener net.Listener, options Options) *Server {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: options, ended: make(chan struct{})}
	s.http = &http.Server{
		Handler:           guard(options.Token, s.routes()),
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnState:         s.crowd.changed,
		ErrorLog:          quiet(options.Logger),
	}
	addr := listener.Addr().String()
	options.Logger.Info("the debug endpoint listens", "addr", addr)
	s.announce(addr)
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(listener) // ends with Close
	}()
	return s
}

// announce writes the run file. An engine without one serves all the same.
func (s *Server) announce(addr string) {
	if s.options.DataDir == "" {
		return
	}
	if err := s.run.write(s.options.DataDir, addr, s.options.Version); err != nil {
		s.options.Logger.Warn("the debug endpoint's address could not be written down", "error", err.Error(), "addr", addr)
	}
}

// Close ends the endpoint, whoever is being answered.
func (s *Server) Close() {
	s.run.remove()
	_ = s.http.Close()
	<-s.ended
}

func quiet(to *slog.Logger) *log.Logger { return slog.NewLogLogger(to.Handler(), slog.LevelDebug) }

const index = `This is a running sluice engine.
/stats         its counters, bounds and last stalls as JSON
/metrics       Prometheus metrics
/debug/pprof/  profiles, for go tool pprof
`

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(index)) })
	mux.HandleFunc("GET /stats", s.stats)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.options.Metrics.registry(s.options), promhttp.HandlerOpts{ErrorLog: quiet(s.options.Logger)}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

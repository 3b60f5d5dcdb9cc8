package memory

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/wire"
)

const (
	defaultTopK         = 5
	defaultEmbedTimeout = 2 * time.Second
	defaultBuildWait    = 2 * time.Second
)

// ErrClosed is what Retrieve returns after Close.
var ErrClosed = errors.New("memory is closed: the engine is ending")

// Embed turns texts into vectors, one a text, in their order and all of one length. It returns soon
// after ctx ends.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// Options change how an Index works; the zero value of each but Dir is the default.
type Options struct {
	// Dir is the folder that holds sessions.db and gets memory.db.
	Dir string
	// TopK is the most snippets that Retrieve returns; 0 means 5.
	TopK int
	// Embed is called from several goroutines; nil searches by words alone.
	Embed Embed
	// EmbeddingModel names the model behind Embed: vectors of another name are not compared with its.
	EmbeddingModel string
	// EmbedTimeout is how long Retrieve waits for the vector of its text; 0 means 2 s.
	EmbedTimeout time.Duration
	// BuildWait is how long Retrieve waits for the index to follow the journal before it searches what
	// is there; 0 means 2 s. The building goes on behind it.
	BuildWait time.Duration
	// Logger gets progress and what went wrong; nil discards.
	Logger *slog.Logger
}

// Index is the memory of all users of a data folder. Several, of several engines, share its file.
type Index struct {
	options Options
	log     *slog.Logger
	path    string // of memory.db

	asks     asks
	requests chan struct{} // to the goroutine that gets vectors; holds one
	running  sync.WaitGroup
	ctx      context.Context // ends when Close is called
	cancel   context.CancelFunc

	state   sync.Mutex // guards started and closed
	started bool
	closed  bool

	files   sync.RWMutex // see the package's concurrency law; guards the fields below
	source  *source      // nil until there is a sessions.db
	store   *store       // nil until the source is there
	problem error        // why the last look at the journal failed; cleared by the next that doesn't
	asides  int          // how often memory.db was set aside by this Index

	signs      signCache
	dimensions atomic.Int64 // of the last vector that came; 0 before the first
}

// New returns an Index. It opens nothing and starts nothing before the first Retrieve; the caller
// closes it.
func New(options Options) *Index {
	if options.TopK <= 0 {
		options.TopK = defaultTopK
	}
	if options.EmbedTimeout <= 0 {
		options.EmbedTimeout = defaultEmbedTimeout
	}
	if options.BuildWait <= 0 {
		options.BuildWait = defaultBuildWait
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Index{
		options: options, log: options.Logger, path: filepath.Join(options.Dir, "memory.db"),
		asks: asks{wake: make(chan struct{}, 1)}, requests: make(chan struct{}, 1),
		ctx: ctx, cancel: cancel,
	}
}

// Retrieve returns at most TopK snippets of the user's other sessions, best first. There are none
// without an error while nothing is stored and for a text without any word. An error says why there
// are none and what to do, or is the cause of ctx.
func (x *Index) Retrieve(ctx context.Context, user, session, text string) ([]wire.Snippet, error) {
	terms := queryTerms(text)
	if len(terms) == 0 {
		return nil, nil
	}
	if err := x.begin(); err != nil {
		return nil, err
	}
	defer x.running.Done()
	ctx, release := x.bind(ctx)
	defer release()
	vector := x.embedQuery(ctx, text)
	if err := x.asks.wait(ctx, x.options.BuildWait); err != nil {
		return nil, err
	}
	return x.retrieve(ctx, request{user, session, terms, vector})
}

// retrieve searches; an index that turns out to be damaged is built anew first, and searched again.
func (x *Index) retrieve(ctx context.Context, r request) ([]wire.Snippet, error) {
	snippets, err := x.search(ctx, r)
	if isDamage(err) {
		x.log.Warn("memory is damaged and built anew", "file", x.path, "error", err)
		if err := x.asks.wait(ctx, x.options.BuildWait); err != nil {
			return nil, err
		}
		snippets, err = x.search(ctx, r)
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if len(snippets) > 0 || err == nil {
		return snippets, err
	}
	if x.ctx.Err() != nil { // Close was called; ctx, which bind ends, may not know it yet
		return nil, ErrClosed
	}
	return nil, explain(x.options.Dir, err)
}

// begin counts a Retrieve as running, and starts the goroutines when it is the first.
func (x *Index) begin() error {
	x.state.Lock()
	defer x.state.Unlock()
	if x.closed {
		return ErrClosed
	}
	x.running.Add(1)
	if !x.started {
		x.started = true
		x.running.Go(x.keep)
		if x.options.Embed != nil {
			x.running.Go(x.embedAll)
		}
	}
	return nil
}

// bind returns a context that also ends when Close is called.
func (x *Index) bind(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(x.ctx, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// Close ends what runs, closes the files and waits for that, or for ctx. Retrieves under way return
// ErrClosed. It may be called again.
func (x *Index) Close(ctx context.Context) error {
	x.state.Lock()
	x.closed = true
	x.state.Unlock()
	x.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		x.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

package verify

import (
	"fmt"
	"sync/atomic"

	"sluice/internal/bench/latency"
	"sluice/internal/bench/tokens"
)

// Format is the form of the lines that a program writes.
type Format int

const (
	// NDJSON is NDJSON v1, as the engine writes it.
	NDJSON Format = iota
	// SSE is llama-server's own stream with its HTTP framing, as a peer that copies bytes writes it.
	SSE
)

// Options describe the stream that is expected.
type Options struct {
	Format   Format
	ID       string // JSON text of the request's id; only its lines belong to the stream
	Timed    bool   // tokens carry their send time
	FreeText bool   // no tokens but any text, which the response must repeat
	Filled   bool   // the final line is padding of a peer; its response isn't compared
	Cut      bool   // the reader goes away; that the end is missing is no loss
	Lossy    bool   // the engine may drop text; what is missing is counted and no fault

	Latency  *latency.Histogram // of timed tokens; shared by the streams of one reader; nil counts none
	Received *atomic.Int64      // tokens, added up by all streams that share it; nil counts none
}

// FreeTextTokens is what Report is given for free text, of which nobody knows how much was sent.
const FreeTextTokens = -1

func (o Options) tokenWidth() int {
	if o.Timed {
		return tokens.TimedWidth
	}
	return tokens.PlainWidth
}

// Report tells what arrived. Times are clock.Now nanoseconds.
type Report struct {
	Lines    int    // lines of the stream, chunks and others
	Chunks   int    // lines that carried tokens
	Bytes    int    // with line ends
	Tokens   int    // tokens that arrived in order; of free text, deltas
	Lost     int    // tokens that never arrived, or arrived after a later one
	Repeated int    // tokens that arrived after themselves or a later one
	FirstAt  int64  // receipt of the first token
	FinalAt  int64  // receipt of the final line
	Final    string // the final line, empty when it never came
	Problems []string
	Faults   int // number of problems, also those not told

	cut, lossy bool // as in Options
}

// Err returns nil when every token arrived once and in order, every line was valid and the final
// line came, as far as the options ask for it.
func (r *Report) Err() error {
	switch {
	case r.Faults > 0:
		return fmt.Errorf("%d faults, first: %s", r.Faults, r.Problems[0])
	case r.Lost > 0 && !r.lossy:
		return fmt.Errorf("%d tokens lost", r.Lost)
	case r.Final == "" && !r.cut:
		return fmt.Errorf("no final line after %d tokens", r.Tokens)
	}
	return nil
}

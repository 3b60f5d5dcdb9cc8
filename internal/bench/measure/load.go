package measure

import (
	"fmt"
	"strconv"
	"time"

	"sluice/internal/bench/host"
	"sluice/internal/bench/tokens"
)

// Load is what a program has to go through. Its zero value is one chat of 2,000,000 tokens as fast as
// they are read by a fast reader.
type Load struct {
	Tokens  int           // of each stream; 0 for 2,000,000, with During or an own server for any number
	Rate    float64       // tokens per second of each stream, 0 for as fast as they are read
	During  time.Duration // how long each stream lasts at most, 0 for as long as it takes
	Streams int           // chats at once; 0 is 1
	Prompt  string        // what a server of the user's own is asked

	Reader     host.Model
	SlowFor    time.Duration // how long a slow reader stays slow at least; 0 is 10 s
	SocketPair bool          // socket pairs even where the session has pipes

	Policy string // output.on_full of the engine: coalesce, drop; empty is its default
	Output string // more output settings of the engine, in YAML's flow style
	// MayLose says that more text is sent than the engine lets wait, so that what it drops of it is no
	// fault; with the policy drop that is always so.
	MayLose bool

	SampleEvery time.Duration // how often Sample is taken; 0 is never
	Progress    func(Sample)  // called with each Sample, by a goroutine of the run; may be nil

	maxTokens int // of an answer that a server of the user's own gives; 0 leaves it to that
}

const (
	defaultTokens  = 2_000_000
	defaultSlowFor = 10 * time.Second
)

// Check returns an error that tells what a person has to change in the load.
func (l Load) Check() error {
	switch {
	case l.Tokens < 0 || l.Tokens > tokens.Limit:
		return fmt.Errorf("%d tokens are not between 1 and %d", l.Tokens, tokens.Limit)
	case !(l.Rate >= 0 && l.Rate <= 1e6):
		return fmt.Errorf("a rate of %g is not between 0 and 1000000 tokens per second", l.Rate)
	case l.Streams < 0 || l.Streams > MaximumStreams:
		return fmt.Errorf("%d streams are not between 1 and %d", l.Streams, MaximumStreams)
	case l.During < 0 || l.SlowFor < 0:
		return fmt.Errorf("a duration is less than nothing")
	case l.Policy != "" && l.Policy != "coalesce" && l.Policy != "drop":
		return fmt.Errorf("no policy is called %q: it is one of coalesce, drop", l.Policy)
	}
	return l.Reader.Check()
}

// MaximumStreams is how many chats the load server has slots for.
const MaximumStreams = 1024

func (l Load) withDefaults() Load {
	if l.Tokens == 0 {
		l.Tokens = defaultTokens
		if l.During > 0 {
			l.Tokens = tokens.Limit
		}
	}
	l.Streams = max(1, l.Streams)
	if l.SlowFor == 0 {
		l.SlowFor = defaultSlowFor
	}
	if l.Reader.Stall == 0 {
		l.Reader.Stall = l.SlowFor
	}
	return l
}

// closes reports whether the reader goes away.
func (l Load) closes() bool { return l.Reader.Reader == host.ReaderClosed }

// steer returns the words that ask the load server for the stream with the given name.
func (l Load) steer(name string) string {
	words := "n=" + strconv.Itoa(l.Tokens) + " rate=" + strconv.FormatFloat(l.Rate, 'f', -1, 64) + " name=" + name
	if l.During > 0 {
		words += " for=" + l.During.String()
	}
	return words
}

// chatName is the name of a chat, and with quotes its request's id.
func chatName(index int) string { return strconv.Itoa(index + 1) }

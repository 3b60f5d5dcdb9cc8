package host

import (
	"fmt"
	"strings"
	"time"
)

// Names of the reader models.
const (
	ReaderFast      = "fast"      // whatever is there at once
	ReaderThrottled = "throttled" // bytes per second
	ReaderBursty    = "bursty"    // pauses and bursts by turns
	ReaderStalled   = "stalled"   // nothing for a time, then all
	ReaderTrickle   = "trickle"   // one byte a read
	ReaderClosed    = "closed"    // goes away in the middle of a stream
)

// Readers are the names of all reader models, in the order in which they are told.
var Readers = []string{ReaderFast, ReaderThrottled, ReaderBursty, ReaderStalled, ReaderTrickle, ReaderClosed}

// Model describes a host that reads in a certain way. Its zero value reads fast.
type Model struct {
	Reader         string        // a name of Readers; empty is ReaderFast
	BytesPerSecond int           // of throttled, default 64 KB
	Pause, Read    time.Duration // of bursty, default 100 ms and 10 ms
	Stall          time.Duration // of stalled, default 10 s
	CloseAfter     int           // bytes, of closed, default 1 MiB
}

// Check returns an error that lists the names when the model's is none of them.
func (m Model) Check() error {
	for _, name := range Readers {
		if m.Reader == name || m.Reader == "" {
			return nil
		}
	}
	return fmt.Errorf("no reader is called %q: it is one of %s", m.Reader, strings.Join(Readers, ", "))
}

// Slow reports whether the model would take far longer than the stream for what waits.
func (m Model) Slow() bool {
	return m.Reader == ReaderThrottled || m.Reader == ReaderBursty || m.Reader == ReaderTrickle || m.Reader == ReaderStalled
}

// Pace returns a new Pace of the model. The model's name is one of Readers.
func (m Model) Pace() Pace {
	switch m.Reader {
	case ReaderThrottled:
		return &Throttled{BytesPerSecond: orDefault(m.BytesPerSecond, 64_000)}
	case ReaderBursty:
		return &Bursty{Pause: orDefault(m.Pause, 100*time.Millisecond), Read: orDefault(m.Read, 10*time.Millisecond)}
	case ReaderStalled:
		return &Stalled{For: orDefault(m.Stall, 10*time.Second)}
	case ReaderTrickle:
		return &Trickle{}
	case ReaderClosed:
		return &Closed{After: orDefault(m.CloseAfter, 1<<20)}
	}
	return Fast{}
}

func orDefault[T ~int | ~int64](value, byDefault T) T {
	if value == 0 {
		return byDefault
	}
	return value
}

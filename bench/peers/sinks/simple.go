package main

import (
	"bufio"
	"bytes"
	"io"
	"log"
	"time"

	"github.com/rs/zerolog/diode"
	"go.uber.org/zap/zapcore"
)

// bounded is what sinks have in common that bound themselves and merge nothing: each line is one call
// of write.
type bounded struct {
	write  func(line []byte) error
	finish func() error
	failed chan error // the first error of write
}

func newBounded(write func([]byte) error, finish func() error) *bounded {
	return &bounded{write: write, finish: finish, failed: make(chan error, 1)}
}

func (b *bounded) producer(int) func(line) {
	return func(l line) {
		if err := b.write(l.bytes); err != nil {
			select {
			case b.failed <- err:
			default: // an earlier one is told
			}
		}
	}
}

func (*bounded) waiting() int64 { return 0 }

func (b *bounded) close() (int64, error) {
	err := b.finish()
	select {
	case err = <-b.failed:
	default:
	}
	return 0, err
}

// newDirect writes each line with a call of its own, in the producer's goroutine.
func newDirect(output io.Writer) sink {
	write := func(line []byte) error {
		_, err := output.Write(line)
		return err
	}
	return newBounded(write, func() error { return nil })
}

// newZap writes through zap's BufferedWriteSyncer as it comes: 256 kB, flushed when full or after 30
// seconds, by the producer that fills it or by a goroutine of its own.
func newZap(output io.Writer) sink {
	syncer := &zapcore.BufferedWriteSyncer{WS: zapcore.AddSync(struct{ io.Writer }{output})}
	write := func(line []byte) error {
		_, err := syncer.Write(line)
		return err
	}
	return newBounded(write, syncer.Stop)
}

// The diode's size and interval are those of its own documentation.
const (
	diodeLines    = 1000
	diodeInterval = 10 * time.Millisecond
)

// newDiode writes through zerolog's diode, which overwrites lines that its goroutine has not taken,
// and would tell the log of collisions thousands of times.
func newDiode(output io.Writer) sink {
	log.SetOutput(io.Discard)
	writer := diode.NewWriter(struct{ io.Writer }{output}, diodeLines, diodeInterval, nil)
	write := func(line []byte) error {
		_, err := writer.Write(line)
		return err
	}
	return newBounded(write, writer.Close)
}

// channelLines is how many lines a channel holds before its producers wait.
const channelLines = 1024

// newChannel hands a copy of each line to a goroutine, which flushes when the channel is empty.
func newChannel(output io.Writer) sink {
	lines := make(chan []byte, channelLines)
	written := make(chan error, 1)
	go func() { written <- writeLines(output, lines) }()
	write := func(line []byte) error {
		lines <- bytes.Clone(line)
		return nil
	}
	return newBounded(write, func() error {
		close(lines)
		return <-written
	})
}

// writeLines writes until the channel is closed. Behind the first error it only takes the lines.
func writeLines(output io.Writer, lines <-chan []byte) (err error) {
	buffered := bufio.NewWriterSize(output, 64<<10)
	for line := range lines {
		if err != nil {
			continue
		}
		_, err = buffered.Write(line)
		if err == nil && len(lines) == 0 {
			err = buffered.Flush()
		}
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

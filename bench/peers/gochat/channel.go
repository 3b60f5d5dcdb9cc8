package main

import (
	"bufio"
	"io"

	"sluice/bench/peers/chat"
)

// channelLines is how many lines wait for the writer before the stream does.
const channelLines = 1024

// writeThroughChannel hands each line to a goroutine, which writes what gathered meanwhile. The
// caller's goroutine closes the channel and waits for the writer.
func writeThroughChannel(output io.Writer, request chat.Request, frames *chat.Frames) error {
	lines := make(chan []byte, channelLines)
	written := make(chan error, 1)
	go func() { written <- writeLines(output, lines, func(line []byte) []byte { return line }) }()
	err := eachEvent(request, frames, func(line []byte) error {
		lines <- append(line, '\n')
		return nil
	})
	if err == nil {
		lines <- []byte(request.Result())
	}
	close(lines)
	if writeErr := <-written; err == nil {
		err = writeErr
	}
	return err
}

// writeLines writes the lines of elements until the channel is closed, and flushes when none waits.
// Behind the first error it only takes them, so that nobody waits for it.
func writeLines[Element any](output io.Writer, elements <-chan Element, line func(Element) []byte) (err error) {
	buffered := bufio.NewWriterSize(output, batchBytes)
	for element := range elements {
		if err != nil {
			continue
		}
		_, err = buffered.Write(line(element))
		if err == nil && len(elements) == 0 {
			err = buffered.Flush()
		}
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

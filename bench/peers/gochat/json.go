package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sluice/bench/peers/chat"
)

// chunk is what a peer reads of llama-server's chunk.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content *string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
}

// eachEvent calls emit with the encoded event of each token, without a line end.
func eachEvent(request chat.Request, frames *chat.Frames, emit func([]byte) error) error {
	for {
		data, err := frames.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var received chunk
		if err := json.Unmarshal(data, &received); err != nil {
			return err
		}
		if len(received.Choices) == 0 || received.Choices[0].Delta.Content == nil {
			continue
		}
		line, err := json.Marshal(request.Chunk(*received.Choices[0].Delta.Content))
		if err != nil {
			return err
		}
		if err := emit(line); err != nil {
			return err
		}
	}
}

// writeEvents writes each event at once, in the caller's goroutine.
func writeEvents(output io.Writer, request chat.Request, frames *chat.Frames) error {
	err := eachEvent(request, frames, func(line []byte) error {
		_, err := fmt.Fprintf(output, "%s\n", line)
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(output, request.Result())
	return err
}

// batchBytes holds the lines of what one read brings.
const batchBytes = 64 << 10

// writeBatches writes what one read brought at once, in the caller's goroutine.
func writeBatches(output io.Writer, request chat.Request, frames *chat.Frames) error {
	buffered := bufio.NewWriterSize(output, batchBytes)
	err := eachEvent(request, frames, func(line []byte) error {
		if _, err := fmt.Fprintf(buffered, "%s\n", line); err != nil || frames.Waiting() {
			return err
		}
		return buffered.Flush()
	})
	if err != nil {
		return err
	}
	if _, err := buffered.WriteString(request.Result()); err != nil {
		return err
	}
	return buffered.Flush()
}

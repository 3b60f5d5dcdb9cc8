package main

import (
	"bytes"
	"errors"
	"io"

	"github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"
	"github.com/tidwall/gjson"

	"sluice/bench/peers/chat"
)

// token is an element: a text, and the event that it becomes.
type token struct {
	data []byte // of the frame
	text gjson.Result
	line []byte
}

// writeThroughStages sends each token as an element through four stages of go-streams: parse,
// transform, encode and frame. Each stage and the source are goroutines of their own; the source
// closes the first channel, and the writer in the caller's goroutine ends when the last is closed.
func writeThroughStages(output io.Writer, request chat.Request, frames *chat.Frames) error {
	source, sink := make(chan any), make(chan any, channelLines)
	read := make(chan error, 1)
	go func() {
		defer close(source)
		read <- eachFrame(frames, source)
	}()
	head := gjson.AppendJSONString([]byte(`{"id":`), request.ID)
	head = append(head, `,"type":"event","event":"llm_chunk","step":0,"delta":`...)
	go extension.NewChanSource(source).
		Via(flow.NewMap(parseToken, 1)).
		Via(flow.NewFilter(isText, 1)).
		Via(flow.NewMap(func(t *token) *token { return encodeToken(head, t) }, 1)).
		Via(flow.NewMap(frameLine, 1)).
		To(extension.NewChanSink(sink))
	err := writeLines(output, sink, func(element any) []byte { return element.([]byte) })
	if readErr := <-read; err == nil {
		err = readErr
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(output, request.Result())
	return err
}

func eachFrame(frames *chat.Frames, source chan<- any) error {
	for {
		data, err := frames.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		source <- &token{data: bytes.Clone(data)}
	}
}

func parseToken(t *token) *token {
	t.text = gjson.GetBytes(t.data, "choices.0.delta.content")
	return t
}

func isText(t *token) bool { return t.text.Type == gjson.String }

func encodeToken(head []byte, t *token) *token {
	t.line = gjson.AppendJSONString(bytes.Clone(head), t.text.Str)
	return t
}

func frameLine(t *token) []byte { return append(t.line, "}\n"...) }

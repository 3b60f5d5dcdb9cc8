// Package chat is what the peers written in Go share: requests as lines on stdin, as the engine takes
// them, and the frames of a chat completion stream.
//
// Everything runs in the caller's goroutine. Serve closes each stream when its answer returns.
package chat

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Request is a chat request in NDJSON v1; what a peer has no use for is left out.
type Request struct {
	ID     string `json:"id"`
	Params struct {
		Input string `json:"input"`
	} `json:"params"`
}

// Event is the line of a token.
type Event struct {
	ID    string `json:"id"`
	Type  string `json:"type"`
	Event string `json:"event"`
	Step  int    `json:"step"`
	Delta string `json:"delta"`
}

// Chunk returns the event of a text of the request's answer.
func (r Request) Chunk(text string) Event {
	return Event{ID: r.ID, Type: "event", Event: "llm_chunk", Delta: text}
}

// Result returns the final line of the request, with its line end.
func (r Request) Result() string {
	return fmt.Sprintf(`{"id":%q,"type":"result","result":{"finish_reason":"stop"}}`+"\n", r.ID)
}

// Serve has each request of input answered, one after another, until input ends. It returns the
// first error.
func Serve(ctx context.Context, url string, input io.Reader, answer func(Request, *Frames) error) error {
	requests := bufio.NewScanner(input)
	for requests.Scan() {
		var request Request
		if err := json.Unmarshal(requests.Bytes(), &request); err != nil {
			return fmt.Errorf("request %.80q: %w", requests.Bytes(), err)
		}
		frames, err := Open(ctx, url, request)
		if err != nil {
			return err
		}
		err = answer(request, frames)
		frames.Close()
		if err != nil {
			return err
		}
	}
	return requests.Err()
}

// readBytes is what one read of a stream takes at most: net/http's own 4 KiB would be the bottleneck.
const readBytes = 64 << 10

var (
	dataField = []byte("data: ")
	doneData  = []byte("[DONE]")
)

// Frames reads the frames of one answer. The caller calls Close.
type Frames struct {
	body  io.ReadCloser
	lines *bufio.Reader
}

// Open asks the server at the URL for the answer to a request.
func Open(ctx context.Context, url string, request Request) (*Frames, error) {
	body, err := json.Marshal(map[string]any{
		"messages": []map[string]string{{"role": "user", "content": request.Params.Input}},
		"model":    "default", "stream": true,
	})
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{ReadBufferSize: readBytes, DisableKeepAlives: true}}
	response, err := client.Do(post)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return &Frames{body: response.Body, lines: bufio.NewReaderSize(response.Body, readBytes)}, nil
}

// Next returns the data of the next frame, valid until the next call, and io.EOF behind the last one.
func (f *Frames) Next() ([]byte, error) {
	for {
		line, err := f.lines.ReadSlice('\n')
		if err == io.EOF {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		data, isData := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), dataField)
		if isData && bytes.Equal(data, doneData) {
			return nil, io.EOF
		}
		if isData {
			return data, nil
		}
	}
}

// Waiting reports whether Next returns without waiting for the server.
func (f *Frames) Waiting() bool {
	buffered, err := f.lines.Peek(f.lines.Buffered())
	return err == nil && bytes.IndexByte(bytes.TrimLeft(buffered, "\n"), '\n') >= 0
}

// Close ends the stream.
func (f *Frames) Close() error { return f.body.Close() }

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/redpanda-data/benthos/v4/public/service"

	"sluice/bench/peers/chat"
)

// inputName is the custom input's name in a stream's configuration.
const inputName = "chat"

// registerInput makes the input known to Benthos. With batches, a batch is what one read brought.
func registerInput() error {
	spec := service.NewConfigSpec().Fields(service.NewStringField("url"), service.NewBoolField("batches"))
	return service.RegisterBatchInput(inputName, spec,
		func(config *service.ParsedConfig, _ *service.Resources) (service.BatchInput, error) {
			url, err := config.FieldString("url")
			if err != nil {
				return nil, err
			}
			batches, err := config.FieldBool("batches")
			if err != nil {
				return nil, err
			}
			return service.AutoRetryNacksBatched(&input{url: url, batches: batches, requests: bufio.NewScanner(os.Stdin)}), nil
		})
}

// input delivers the frames of the answer to each request on stdin, and then its final line. Benthos
// calls it from one goroutine at a time.
type input struct {
	url      string
	batches  bool
	requests *bufio.Scanner

	request chat.Request
	frames  *chat.Frames // nil between two requests
}

// Connect has nothing to do: each request opens its own stream.
func (*input) Connect(context.Context) error { return nil }

// ReadBatch returns the next frames of the answer, or the result behind its last one.
func (i *input) ReadBatch(context.Context) (service.MessageBatch, service.AckFunc, error) {
	if i.frames == nil {
		if err := i.open(); err != nil {
			return nil, nil, err
		}
	}
	var batch service.MessageBatch
	for {
		data, err := i.frames.Next()
		if errors.Is(err, io.EOF) {
			batch = append(batch, service.NewMessage([]byte(i.request.Result())))
			return batch, acknowledged, i.close()
		}
		if err != nil {
			return nil, nil, errors.Join(err, i.close())
		}
		message := service.NewMessage(append([]byte(nil), data...))
		message.MetaSetMut("id", i.request.ID)
		batch = append(batch, message)
		if !i.batches || !i.frames.Waiting() {
			return batch, acknowledged, nil
		}
	}
}

func acknowledged(context.Context, error) error { return nil }

// open waits for a request. Its stream outlives the context of the call.
func (i *input) open() error {
	if !i.requests.Scan() {
		return errors.Join(service.ErrEndOfInput, i.requests.Err())
	}
	i.request = chat.Request{}
	if err := json.Unmarshal(i.requests.Bytes(), &i.request); err != nil {
		return err
	}
	frames, err := chat.Open(context.Background(), i.url, i.request)
	i.frames = frames
	return err
}

func (i *input) close() error {
	err := i.frames.Close()
	i.frames = nil
	return err
}

// Close ends a stream that is under way.
func (i *input) Close(context.Context) error {
	if i.frames == nil {
		return nil
	}
	return i.close()
}

// Command benthos is the peer on Benthos: a stream of a custom input, a mapping and the stdout output.
//
//	benthos plain http://127.0.0.1:8080/v1/chat/completions
//
// With "plain" a token is a message, written on its own; with "batch" a batch of messages is what one
// read brought, and its lines are joined into one message. It answers the requests on stdin one after
// another. Benthos runs the goroutines and closes the input.
package main

import (
	"context"
	"fmt"
	"os"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
)

// One thread, since more of them would change the order of the tokens.
const stream = `
input:
  chat: {url: %q, batches: %v}
pipeline:
  threads: 1
  processors:
    - mapping: |
        root = match {
          this.type == "result" => this
          this.choices.0.delta.content.type() == "string" => {
            "id": @id, "type": "event", "event": "llm_chunk", "step": 0, "delta": this.choices.0.delta.content,
          }
          _ => deleted()
        }
%s
output:
  stdout: {codec: lines}
logger: {level: ERROR, file: {path: /dev/stderr}}
`

const joined = `    - archive: {format: lines}`

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "benthos:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) != 2 || arguments[0] != "plain" && arguments[0] != "batch" {
		return fmt.Errorf("usage: benthos plain|batch URL")
	}
	if err := registerInput(); err != nil {
		return err
	}
	batches, more := arguments[0] == "batch", ""
	if batches {
		more = joined
	}
	builder := service.NewStreamBuilder()
	if err := builder.SetYAML(fmt.Sprintf(stream, arguments[1], batches, more)); err != nil {
		return err
	}
	built, err := builder.Build()
	if err != nil {
		return err
	}
	return built.Run(ctx)
}

// Command gochat holds the peers that are written in Go without a framework, and the one on go-streams:
//
//	gochat json-event http://127.0.0.1:8080/v1/chat/completions
//
// It answers the requests on stdin one after another. Each way of writing says which goroutines it
// has; none outlives its answer.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"sluice/bench/peers/chat"
)

// A writer answers a request with a line for each token and a final line.
type writer func(output io.Writer, request chat.Request, frames *chat.Frames) error

var writers = map[string]writer{
	"json-event":   writeEvents,
	"json-batch":   writeBatches,
	"json-channel": writeThroughChannel,
	"streams":      writeThroughStages,
}

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gochat:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, input io.Reader, output io.Writer) error {
	if len(arguments) != 2 || writers[arguments[0]] == nil {
		return fmt.Errorf("usage: gochat %s URL", strings.Join(names(), "|"))
	}
	write := writers[arguments[0]]
	return chat.Serve(ctx, arguments[1], input, func(request chat.Request, frames *chat.Frames) error {
		return write(output, request, frames)
	})
}

func names() []string {
	var all []string
	for name := range writers {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// Package peertest runs a peer against a small load server and checks that it delivers everything.
//
// The load server runs in the test's process; all that Check starts ends with the test.
package peertest

import (
	"fmt"
	"io"
	"os"
	"testing"

	"sluice/internal/bench/host"
	"sluice/internal/bench/load"
	"sluice/internal/bench/verify"
)

// Variable makes a test binary play the peer, where its TestMain asks Played.
const Variable = "BENCH_PEER"

// Played reports whether the test binary was started as the peer.
func Played() bool { return os.Getenv(Variable) != "" }

// Tokens is how many tokens each of the two answers has: several blocks of the load server.
const Tokens = 700

// Check starts a program with a fast reader and has it answer two requests: each must bring every
// token once and in order, a line each, and one final line. The server's URL is the last argument.
func Check(t *testing.T, program string, arguments ...string) {
	t.Helper()
	t.Setenv(Variable, "1")
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	url := StartLoad(t)
	p, err := host.Start(t.Context(), host.Options{Path: program, Args: append(arguments, url), Lines: discard{}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	for _, id := range []string{"0", "1"} {
		report, err := answer(t, p, id)
		if err != nil {
			t.Fatalf("%s %q: %v", program, arguments, err)
		}
		if err := report.Err(); err != nil || report.Chunks != Tokens {
			t.Errorf("%s %q: %d chunks of %d: %v", program, arguments, report.Chunks, Tokens, err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func answer(t *testing.T, p *host.Process, id string) (*verify.Report, error) {
	stream := verify.NewStream(verify.Options{ID: fmt.Sprintf("%q", id)})
	p.Listen(stream)
	request := fmt.Sprintf(`{"id":%q,"method":"chat","params":{"input":"n=%d"}}`+"\n", id, Tokens)
	if _, err := io.WriteString(p, request); err != nil {
		return nil, err
	}
	if err := p.Await(t.Context(), stream.Done()); err != nil {
		return nil, err
	}
	p.Listen(discard{}) // waits until the stream has taken what came with its final line
	return stream.Report(Tokens), nil
}

// StartLoad starts a load server for the test and returns the URL that chats are asked of.
func StartLoad(t *testing.T) (url string) {
	t.Helper()
	server, err := load.Listen()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		server.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return "http://" + server.Address() + "/v1/chat/completions"
}

type discard struct{}

func (discard) ReadLines([]byte, int64) {}

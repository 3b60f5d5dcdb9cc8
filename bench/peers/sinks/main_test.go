package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"sluice/internal/bench/tokens"
	"sluice/internal/bench/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testProducers = 3
	testLines     = 2000
)

// runSink runs a sink over a pipe that is read at once and returns its lines and its figures.
func runSink(t *testing.T, name string) (output []byte, result figures) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ended := make(chan error, 1)
	go func() {
		defer writer.Close()
		ended <- run([]string{"-sink", name, "-producers", fmt.Sprint(testProducers), "-lines", fmt.Sprint(testLines)}, writer)
	}()
	output, err = io.ReadAll(reader)
	if err := errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(output[:len(output)-1], '\n') + 1
	if err := json.Unmarshal(output[last:], &result); err != nil {
		t.Fatalf("%.200q: %v", output[last:], err)
	}
	return output[:last], result
}

func TestSinksDeliverWholeLinesInOrder(t *testing.T) {
	for _, name := range names() {
		output, result := runSink(t, name)
		lossy := name == "diode"
		var streams []*verify.Stream
		for i := range testProducers {
			streams = append(streams, verify.NewStream(verify.Options{ID: fmt.Sprintf("%q", fmt.Sprint(i)), Lossy: lossy, Cut: true}))
		}
		verify.NewSplit(streams).ReadLines(output, 1)
		received := int64(0)
		for i, stream := range streams {
			report := stream.Report(tokensOf(i))
			received += int64(report.Chunks)
			if err := report.Err(); err != nil {
				t.Errorf("%s: producer %d: %v", name, i, err)
			}
			if !lossy && report.Tokens != tokensOf(i) {
				t.Errorf("%s: %d of %d tokens of producer %d", name, report.Tokens, tokensOf(i), i)
			}
		}
		if result.Type != "result" || result.Lines != testLines || !lossy && received+result.Merged != testLines {
			t.Errorf("%s: %d lines arrived; %+v", name, received, result)
		}
	}
}

// tokensOf is how many tokens a producer sends.
func tokensOf(producer int) (count int) {
	lines := testLines / testProducers
	if producer < testLines%testProducers {
		lines++
	}
	for i := range lines {
		count += i%maxTokens + 1
	}
	return count
}

func TestLinesHaveTheAskedLength(t *testing.T) {
	for _, l := range newLines(7) {
		if next := l.number(0); next != (l.textEnd-l.textStart)/tokens.PlainWidth {
			t.Errorf("%q has %d tokens", l.bytes, next)
		}
		if len(l.bytes) < 70 || len(l.bytes) > 120 {
			t.Errorf("%q has %d bytes", l.bytes, len(l.bytes))
		}
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestFailedWritesAreTold(t *testing.T) {
	for _, name := range []string{"mutex", "channel", "zap", "direct"} {
		s := sinks[name](broken{})
		if _, err := measure(s, 1, 10_000); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrongCallsAreTold(t *testing.T) {
	for _, arguments := range [][]string{{"-sink", "none"}, {"-nothing"}, {"-sink", "mutex", "-producers", "0"}} {
		if err := run(arguments, io.Discard); err == nil {
			t.Errorf("run(%q) reported nothing", arguments)
		}
	}
	if !slices.Contains(names(), "mutex") {
		t.Errorf("names are %q", names())
	}
}

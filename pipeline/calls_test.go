package pipeline

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/wire"
	"sluice/sinks/stdout"
	"sluice/stages/execute"
)

// givenLease streams batches as they are.
type givenLease struct {
	scriptedLease
	batches []*wire.Tokens
}

func (l givenLease) Stream(*wire.ModelRequest) TokenSource { return &givenStream{batches: l.batches} }

type givenStream struct {
	scriptedStream
	batches []*wire.Tokens
}

func (s *givenStream) Run(ctx context.Context) error {
	for _, batch := range s.batches {
		if err := s.next.Push(ctx, batch); err != nil {
			return err
		}
	}
	s.next.Done(nil)
	return nil
}

// step runs one model step of the batches and returns what was logged.
func step(t *testing.T, batches ...*wire.Tokens) (execute.Outcome, string) {
	t.Helper()
	var log bytes.Buffer
	sink := stdout.New(io.Discard, stdout.Options{})
	p := graph(t.Context(), testkit.NewFeed(), io.Discard, &scriptedModels{}, func(o *Options) {
		o.Sink, o.Logger = sinkPort{sink}, slog.New(slog.NewTextHandler(&log, nil))
	})
	go sink.Run()
	outcome, err := p.Chat("7", execute.Extensions{}).Step(t.Context(), givenLease{batches: batches}, 1, &wire.ModelRequest{}, func(int64) {})
	if err == nil {
		err = sink.Close(t.Context(), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return outcome, log.String()
}

func TestAStepBringsItsCalls(t *testing.T) {
	outcome, log := step(t,
		&wire.Tokens{Items: []wire.Token{{Kind: wire.TokenContent, Plain: true, Raw: []byte("Look:")}}},
		&wire.Tokens{Calls: []wire.CallDelta{{ID: "a", Function: "f", Arguments: "{"}, {Index: 1, Function: "g"}}},
		&wire.Tokens{Calls: []wire.CallDelta{{Arguments: "}"}}, Finish: "tool_calls"})
	want := []wire.ToolCall{{ID: "a", Function: "f", Arguments: "{}"}, {ID: "call_1_1", Function: "g"}}
	if !reflect.DeepEqual(outcome.Calls, want) || string(outcome.Response) != "Look:" || outcome.Finish != "tool_calls" || log != "" {
		t.Errorf("%+v, log %s", outcome, log)
	}
}

func TestTooManyCallsAreLogged(t *testing.T) {
	var batch wire.Tokens
	for i := range 262 {
		batch.Calls = append(batch.Calls, wire.CallDelta{Index: i, Function: "f"})
	}
	outcome, log := step(t, &batch)
	if len(outcome.Calls) != 256 || !strings.Contains(log, "level=WARN") || !strings.Contains(log, "pieces_left_out=6") {
		t.Errorf("%d calls, log %s", len(outcome.Calls), log)
	}
}

package session

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

// newStore returns a store over a folder, closed with the test.
func newStore(t testing.TB, options Options) *Store {
	t.Helper()
	s := New(options)
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func open(t testing.TB, s *Store, user, session string) *Session {
	t.Helper()
	opened, err := s.Open(context.Background(), user, session, nil)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func noWarnings(t testing.TB, s *Session) {
	t.Helper()
	if w := s.Warnings(); len(w) != 0 {
		t.Fatalf("warnings %q", w)
	}
}

// newTurn returns a turn that has not begun.
func newTurn(input string) *wire.Turn {
	return &wire.Turn{TraceID: "trace", Agent: "assistant", Input: input, Started: time.UnixMilli(1_700_000_000_000)}
}

// say runs a whole turn of one step.
func say(t testing.TB, s *Session, input, response string) int64 {
	t.Helper()
	ctx := context.Background()
	turn := newTurn(input)
	must(t, s.Begin(ctx, turn))
	must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Text: response}))
	must(t, s.End(ctx, turn.ID, wire.TurnDone, response))
	return turn.ID
}

func inputs(turns []wire.Turn) string {
	var list []string
	for _, turn := range turns {
		list = append(list, turn.Input)
	}
	return strings.Join(list, " ")
}

func history(t testing.TB, s *Session) []wire.Turn {
	t.Helper()
	turns, err := s.History(context.Background(), 0, 1<<30, 1<<30)
	must(t, err)
	return turns
}

func last(t testing.TB, s *Session) *wire.Turn {
	t.Helper()
	turn, err := s.Last(context.Background(), 0)
	must(t, err)
	return turn
}

// The contract of the turn loop, but for Open's own type of session.
var _ agent.Session = (*Session)(nil)

func TestATurnIsReadAsItWasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?#%ä[x]", "data")
	ctx := context.Background()
	for _, folder := range []string{dir, ""} {
		t.Run(folder, func(t *testing.T) {
			s := open(t, newStore(t, Options{Dir: folder}), "u", "s")
			defer s.Close()
			if turn := last(t, s); turn != nil {
				t.Fatalf("there is %+v", turn)
			}
			want := newTurn("what? \x00 ä")
			must(t, s.Begin(ctx, want))
			if want.ID <= 0 {
				t.Fatalf("id %d", want.ID)
			}
			step := wire.TurnStep{Number: 0, Text: "let me see", Calls: []wire.TurnCall{
				{ToolCall: wire.ToolCall{ID: "1", Function: "fs__read", Arguments: `{"a":1}`}, Tool: "fs/read"},
				{ToolCall: wire.ToolCall{ID: "2", Function: "fs__stat", Arguments: `{`}, Tool: "fs/stat"},
				{ToolCall: wire.ToolCall{ID: "3", Function: "fs__list"}, Tool: "fs/list"},
			}}
			must(t, s.SaveStep(ctx, want.ID, &step))
			must(t, s.StartCall(ctx, want.ID, 0, 0))
			must(t, s.StartCall(ctx, want.ID, 0, 1))
			result := &wire.ToolResult{Status: wire.ToolTimeout, Text: strings.Repeat("x", 10_000), Retryable: true, Took: 3 * time.Second}
			must(t, s.EndCall(ctx, want.ID, 0, 1, result))
			step.Calls[0].Started, step.Calls[1].Started, step.Calls[1].Result = true, true, result
			want.Steps = []wire.TurnStep{step}
			if got := last(t, s); !reflect.DeepEqual(got, want) {
				t.Fatalf("got  %+v\nwant %+v", got, want)
			}
			must(t, s.SaveStep(ctx, want.ID, &wire.TurnStep{Number: 1, Text: "there"}))
			must(t, s.End(ctx, want.ID, wire.TurnAborted, "there"))
			want.Steps = append(want.Steps, wire.TurnStep{Number: 1, Text: "there"})
			want.Status, want.Response = wire.TurnAborted, "there"
			if got := history(t, s); !reflect.DeepEqual(got, []wire.Turn{*want}) {
				t.Fatalf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestAnInterruptedTurnIsResumed(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	store := newStore(t, Options{Dir: dir})
	s := open(t, store, "u", "s")
	turn := newTurn("first")
	must(t, s.Begin(ctx, turn))
	must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Text: "a", Calls: make([]wire.TurnCall, 2)}))
	s.Close()

	s = open(t, newStore(t, Options{Dir: dir}), "u", "s")
	defer s.Close()
	noWarnings(t, s)
	got := last(t, s)
	if got == nil || got.Status != wire.TurnRunning || got.ID != turn.ID {
		t.Fatalf("got %+v", got)
	}
	must(t, s.End(ctx, got.ID, wire.TurnCancelled, "a"))
	must(t, s.Resume(ctx, got.ID))
	must(t, s.StartCall(ctx, got.ID, 0, 1))
	must(t, s.SaveStep(ctx, got.ID, &wire.TurnStep{Number: 1, Text: "b"}))
	if got = last(t, s); got.Status != wire.TurnRunning || got.Response != "" || len(got.Steps) != 2 || got.Steps[0].Calls[0].Started || !got.Steps[0].Calls[1].Started {
		t.Fatalf("got %+v", got)
	}
	must(t, s.End(ctx, got.ID, wire.TurnDone, "ab"))
	if got = last(t, s); got.Status != wire.TurnDone || got.Response != "ab" {
		t.Fatalf("got %+v", got)
	}
}

func TestHistoryIsAsLongAsItFits(t *testing.T) {
	ctx := context.Background()
	s := open(t, newStore(t, Options{Dir: t.TempDir()}), "u", "s")
	defer s.Close()
	var ids []int64
	for i := range 5 { // 20 bytes of text each
		ids = append(ids, say(t, s, fmt.Sprintf("input%d....", i)[:10], "reply"))
	}
	turn := newTurn("0123456789")
	must(t, s.Begin(ctx, turn))
	must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Calls: []wire.TurnCall{{ToolCall: wire.ToolCall{Arguments: "{}"}}}}))
	must(t, s.EndCall(ctx, turn.ID, 0, 0, &wire.ToolResult{Status: wire.ToolOK, Text: strings.Repeat("r", 1000)}))
	for i, c := range []struct {
		before         int64
		bytes, results int
		want           string
	}{
		{turn.ID, 1000, 0, "input4.... input3.... input2.... input1.... input0...."},
		{turn.ID, 60, 0, "input4.... input3.... input2...."},
		{turn.ID, 59, 0, "input4.... input3...."},
		{turn.ID, 0, 0, "input4...."},
		{ids[1], 100, 0, "input0...."},
		{ids[0], 100, 0, ""},
		{0, 32, 8, "0123456789"},
		{0, 40, 8, "0123456789 input4...."},
		{0, 1012, 2000, "0123456789"},
		{0, 1032, 2000, "0123456789 input4...."},
	} {
		turns, err := s.History(ctx, c.before, c.bytes, c.results)
		if got := inputs(turns); err != nil || got != c.want {
			t.Errorf("%d: got %q, %v; want %q", i, got, err, c.want)
		}
	}
	for i := range ids[1:] {
		if ids[i] >= ids[i+1] {
			t.Errorf("ids %v don't rise", ids)
		}
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	ctx := context.Background()
	store := newStore(t, Options{Dir: t.TempDir()})
	other := open(t, store, "u", "other")
	id := say(t, other, "hi", "ho")
	other.Close()
	s := open(t, store, "u", "s")
	defer s.Close()
	turn := newTurn("x")
	must(t, s.Begin(ctx, turn))
	must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Calls: make([]wire.TurnCall, 1)}))
	for name, err := range map[string]error{
		"a turn of another session": s.Resume(ctx, id),
		"no turn":                   s.End(ctx, 1000, wire.TurnDone, ""),
		"no such step":              s.StartCall(ctx, turn.ID, 1, 0),
		"no such call":              s.StartCall(ctx, turn.ID, 0, 1),
		"a call before the first":   s.EndCall(ctx, turn.ID, 0, -1, &wire.ToolResult{}),
	} {
		if err != ErrNoTurn {
			t.Errorf("%s: %v", name, err)
		}
	}
}

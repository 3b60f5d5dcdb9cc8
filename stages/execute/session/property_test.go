package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/wire"
)

// model is what a store should hold.
type model struct {
	turns map[key][]wire.Turn // oldest first
}

// TestAsAModel compares a store with a model in memory over random lives of chats, with the store
// closed and opened again between some of them.
func TestAsAModel(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			m := &model{map[key][]wire.Turn{}}
			options := Options{Dir: t.TempDir()}
			if seed == 0 {
				options.Dir = ""
			}
			store := New(options)
			for range 60 {
				k := key{fmt.Sprint("u", random.IntN(2)), fmt.Sprint("s", random.IntN(3))}
				m.chat(t, random, store, k)
				switch random.IntN(8) {
				case 0:
					m.remove(t, store, key{fmt.Sprint("u", random.IntN(2)), fmt.Sprint("s", random.IntN(3))})
				case 1:
					if options.Dir != "" {
						closeStore(t, store)
						store = New(options)
					}
				}
			}
			m.checkList(t, store)
			closeStore(t, store)
		})
	}
}

func (m *model) remove(t *testing.T, store *Store, k key) {
	t.Helper()
	n, err := store.Delete(context.Background(), k.user, k.session)
	if err != nil || n != len(m.turns[k]) {
		t.Fatalf("deleted %d of %d, %v", n, len(m.turns[k]), err)
	}
	delete(m.turns, k)
}

func (m *model) checkList(t *testing.T, store *Store) {
	t.Helper()
	for _, user := range []string{"u0", "u1"} {
		list, err := store.List(context.Background(), user)
		must(t, err)
		for _, one := range list {
			turns := m.turns[key{user, one.Session}]
			if one.Turns != len(turns) || one.First != firstOf(turns[0].Input) {
				t.Errorf("got %+v for %d turns", one, len(turns))
			}
		}
	}
}

func firstOf(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), firstChars)])
}

// chat is one chat of the session, which may stop anywhere.
func (m *model) chat(t *testing.T, random *rand.Rand, store *Store, k key) {
	t.Helper()
	ctx := context.Background()
	s := open(t, store, k.user, k.session)
	defer s.Close()
	m.check(t, random, s, k)
	turns := m.turns[k]
	var turn *wire.Turn
	if len(turns) > 0 && turns[len(turns)-1].Status == wire.TurnRunning && random.IntN(2) == 0 {
		turn = &turns[len(turns)-1]
		must(t, s.Resume(ctx, turn.ID))
	} else {
		begun := newTurn(someText(random))
		must(t, s.Begin(ctx, begun))
		m.turns[k] = append(turns, *begun)
		turn = &m.turns[k][len(turns)]
	}
	for range random.IntN(4) {
		m.step(t, random, s, turn)
	}
	if random.IntN(3) > 0 {
		turn.Status = []wire.TurnStatus{wire.TurnDone, wire.TurnFailed, wire.TurnCancelled, wire.TurnAborted}[random.IntN(4)]
		turn.Response = someText(random)
		must(t, s.End(ctx, turn.ID, turn.Status, turn.Response))
	}
	m.check(t, random, s, k)
}

func (m *model) step(t *testing.T, random *rand.Rand, s *Session, turn *wire.Turn) {
	t.Helper()
	ctx := context.Background()
	step := wire.TurnStep{Number: len(turn.Steps), Text: someText(random)}
	for range random.IntN(3) {
		step.Calls = append(step.Calls, wire.TurnCall{ToolCall: wire.ToolCall{ID: someText(random), Function: "f", Arguments: someText(random)}, Tool: "a/b"})
	}
	must(t, s.SaveStep(ctx, turn.ID, &step))
	for i := range step.Calls {
		if random.IntN(4) == 0 {
			continue
		}
		must(t, s.StartCall(ctx, turn.ID, step.Number, i))
		step.Calls[i].Started = true
		if random.IntN(4) > 0 {
			result := &wire.ToolResult{Status: wire.ToolError, Text: someText(random), Retryable: random.IntN(2) == 0, Took: time.Duration(random.IntN(1000))}
			must(t, s.EndCall(ctx, turn.ID, step.Number, i, result))
			step.Calls[i].Result = result
		}
	}
	turn.Steps = append(turn.Steps, step)
}

func someText(random *rand.Rand) string {
	return strings.Repeat([]string{"a", "ä\n", "\x00", "'\"", "語"}[random.IntN(5)], random.IntN(300))
}

// check compares the session with the model.
func (m *model) check(t *testing.T, random *rand.Rand, s *Session, k key) {
	t.Helper()
	turns := m.turns[k]
	got := last(t, s)
	if (got == nil) != (len(turns) == 0) || got != nil && !reflect.DeepEqual(*got, turns[len(turns)-1]) {
		t.Fatalf("last: got %+v", got)
	}
	room, cut := random.IntN(5000), 1+random.IntN(500)
	before := int64(0)
	if len(turns) > 0 && random.IntN(2) == 0 {
		n := random.IntN(len(turns))
		before, turns = turns[n].ID, turns[:n]
	}
	list, err := s.History(context.Background(), before, room, cut)
	must(t, err)
	var want []wire.Turn
	for i := len(turns) - 1; i >= 0; i-- {
		if room -= sizeOf(&turns[i], cut); room < 0 && len(want) > 0 {
			break
		}
		want = append(want, cutTurn(turns[i], cut))
	}
	if len(list) != len(want) || len(want) > 0 && !reflect.DeepEqual(list, want) {
		t.Fatalf("history: got %d turns, want %d", len(list), len(want))
	}
	noOther(t, s)
}

func noOther(t *testing.T, s *Session) {
	t.Helper()
	for _, warning := range s.Warnings() {
		if !strings.Contains(warning, "no data folder is known") {
			t.Fatalf("warning %q", warning)
		}
	}
}

// cutTurn returns a turn with its results cut.
func cutTurn(turn wire.Turn, most int) wire.Turn {
	turn.Steps = slices.Clone(turn.Steps)
	for i := range turn.Steps {
		calls := slices.Clone(turn.Steps[i].Calls)
		for c := range calls {
			if r := calls[c].Result; r != nil && len(r.Text) > most {
				short := *r
				short.Bytes, short.Text = len(r.Text), strings.ToValidUTF8(r.Text[:most], "") // what is left of a character goes
				calls[c].Result = &short
			}
		}
		turn.Steps[i].Calls = calls
	}
	return turn
}

func sizeOf(turn *wire.Turn, cut int) int {
	n := len(turn.Input) + len(turn.Response)
	for _, step := range turn.Steps {
		n += len(step.Text)
		for _, call := range step.Calls {
			n += len(call.Arguments)
			if call.Result != nil {
				n += min(cut, len(call.Result.Text))
			}
		}
	}
	return n
}

// FuzzIDs: whatever users and sessions are called, they are apart, and found again.
func FuzzIDs(f *testing.F) {
	for _, names := range [][4]string{
		{"", "", "", "a"}, {"a", "b", "ab", ""}, {"a\x00b", "s", "a", "s"}, {"'", "\"", "' OR 1=1 --", "\""},
		{"\xff", "s", "\xfe", "s"}, {strings.Repeat("x", 100_000), "s", strings.Repeat("x", 99_999) + "y", "s"},
		{"u", "S", "u", "s"}, {"1", "1", "1.0", "01"}, {"é", "s", "e\u0301", "s"}, {"u ", "s", "u", "s"}, {"%", "_", "a", "b"},
	} {
		f.Add(names[0], names[1], names[2], names[3])
	}
	store := newStore(f, Options{Dir: f.TempDir()})
	f.Fuzz(func(t *testing.T, user, session, otherUser, otherSession string) {
		a, b := key{user, session}, key{otherUser, otherSession}
		for _, k := range []key{a, b} {
			_, err := store.Delete(context.Background(), k.user, k.session)
			must(t, err)
		}
		want := map[key][]string{}
		for _, k := range []key{a, b, a} {
			s := open(t, store, k.user, k.session)
			want[k] = append([]string{fmt.Sprint(len(want), len(want[k]))}, want[k]...)
			say(t, s, want[k][0], "yes")
			if got := inputs(history(t, s)); got != strings.Join(want[k], " ") {
				t.Errorf("%q: got %q, want %q", k, got, want[k])
			}
			noWarnings(t, s)
			s.Close()
		}
		list, err := store.List(context.Background(), user)
		must(t, err)
		found := false
		for _, one := range list {
			found = found || one.Session == session && one.Turns == len(want[a])
		}
		if !found {
			t.Errorf("%q isn't in the list", a)
		}
	})
}

package session

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// spoilt are changes to rows that a disk, or a person, may have made.
var spoilt = map[string]string{
	"status":           "UPDATE turns SET status = 'sideways' WHERE id = 2",
	"response cut":     "UPDATE turns SET response = substr(response, 1, 3) WHERE id = 2",
	"input changed":    "UPDATE turns SET input = 'something else' WHERE id = 2",
	"input a blob":     "UPDATE turns SET input = CAST(input AS BLOB) WHERE id = 2",
	"time a text":      "UPDATE turns SET started = 'yesterday' WHERE id = 2",
	"step cut":         "UPDATE steps SET text = '' WHERE turn_id = 2",
	"step's calls":     "UPDATE steps SET calls = 1000000000000 WHERE turn_id = 2",
	"step gone":        "DELETE FROM steps WHERE turn_id = 2 AND number = 1",
	"first step gone":  "DELETE FROM steps WHERE turn_id = 2 AND number = 0",
	"step elsewhere":   "UPDATE steps SET number = 7 WHERE turn_id = 2 AND number = 0",
	"call changed":     "UPDATE calls SET arguments = '{' WHERE turn_id = 2",
	"call gone":        "DELETE FROM calls WHERE turn_id = 2",
	"call started":     "UPDATE calls SET started = 7 WHERE turn_id = 2",
	"result cut":       "UPDATE results SET text = substr(text, 2) WHERE turn_id = 2",
	"result a number":  "UPDATE results SET took = 'long' WHERE turn_id = 2",
	"result elsewhere": "UPDATE results SET idx = 9 WHERE turn_id = 2",
}

func TestADamagedRowIsSetAside(t *testing.T) {
	ctx := context.Background()
	for name, damage := range spoilt {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, Options{Dir: t.TempDir()})
			s := open(t, store, "u", "s")
			defer s.Close()
			for _, input := range []string{"1", "2", "3"} {
				turn := newTurn(input)
				must(t, s.Begin(ctx, turn))
				must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Text: "not a call"}))
				must(t, s.SaveStep(ctx, turn.ID, &wire.TurnStep{Number: 1, Text: "text", Calls: []wire.TurnCall{{Tool: "a/b"}}}))
				must(t, s.EndCall(ctx, turn.ID, 1, 0, &wire.ToolResult{Status: wire.ToolOK, Text: "result"}))
				must(t, s.End(ctx, turn.ID, wire.TurnDone, "response"))
			}
			must(t, store.do(ctx, func(b *base) error { return b.script(damage) }))
			if got := inputs(history(t, s)); got != "3 1" {
				t.Errorf("got %q", got)
			}
			if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "turn 2 ") || !strings.Contains(w[0], "table damaged") {
				t.Errorf("warnings %q", w)
			}
			must(t, store.do(ctx, func(b *base) error {
				rows, err := b.number("SELECT count(*) FROM damaged WHERE source = 'turns' AND c1 = 2 AND c2 = 'u'")
				forgotten, _ := b.number("SELECT count(*) FROM journal WHERE turn_id = 2 AND deleted = 1")
				left, _ := b.number("SELECT (SELECT count(*) FROM turns WHERE id = 2) + (SELECT count(*) FROM results WHERE turn_id = 2)")
				if rows != 1 || forgotten != 1 || left != 0 {
					t.Errorf("%d rows set aside, %d journalled, %d left", rows, forgotten, left)
				}
				return err
			}))
			say(t, s, "4", "yes")
			if got := inputs(history(t, s)); got != "4 3 1" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestADamagedLastTurnIsPassedOver(t *testing.T) {
	store := newStore(t, Options{Dir: t.TempDir()})
	s := open(t, store, "u", "s")
	defer s.Close()
	say(t, s, "1", "1")
	say(t, s, "2", "2")
	must(t, store.do(context.Background(), func(b *base) error {
		_, err := b.exec("UPDATE leases SET expires = 'never'")
		if err == nil {
			_, err = b.exec("UPDATE turns SET status = 'sideways' WHERE id = 2")
		}
		return err
	}))
	if got := last(t, s); got == nil || got.Input != "1" || len(s.Warnings()) != 1 {
		t.Errorf("got %+v, %q", got, s.Warnings())
	}
}

// A single byte that changed on the disk costs its turn and no other.
func TestAByteThatChangedIsFound(t *testing.T) {
	path := filled(t)
	change(t, path, func(content []byte) []byte {
		content[bytes.LastIndex(content, []byte("an answer"))] ^= 1
		return content
	})
	s := open(t, newStore(t, Options{Dir: filepath.Dir(path)}), "u", "s")
	other := open(t, s.store, "u", "t")
	defer s.Close()
	defer other.Close()
	turns, warnings := len(history(t, s))+len(history(t, other)), append(s.Warnings(), other.Warnings()...)
	if turns != 39 || len(warnings) != 1 || !strings.Contains(warnings[0], "is damaged") {
		t.Errorf("%d turns, warnings %q", turns, warnings)
	}
}

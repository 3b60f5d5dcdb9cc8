package memory

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestUsersNeverSeeEachOthers is the property: whatever is stored and asked, a snippet is of the user
// and of another session.
func TestUsersNeverSeeEachOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	vocabulary := strings.Fields(`1 2 11 1:a a: a b c d e user:1 "1:a" OR NOT 猫 猫が 北京 é E zz yy xx ww vv`)
	users := []string{"", "1", "11", "1:", "a", "A", "ada", "ada ", "ada\x00", "é", "é", `"`, "%", "_"}
	names := []string{"", "one", "two", "1"}
	text := func(limit int) string {
		words := make([]string, 1+random.IntN(limit))
		for i := range words {
			words[i] = vocabulary[random.IntN(len(vocabulary))]
		}
		return strings.Join(words, " ")
	}
	type stored struct{ user, session string }
	dir := t.TempDir()
	s, turns := newSessions(t, dir), map[int64]stored{}
	embed := func(_ context.Context, texts []string) ([][]float32, error) {
		vectors := make([][]float32, len(texts))
		for i, text := range texts {
			vectors[i] = []float32{float32(len(text)), 1, -1}
		}
		return vectors, nil
	}
	x := open(t, Options{Dir: dir, TopK: 30, Embed: embed, EmbeddingModel: "m"})
	found := 0
	for round := range 25 {
		s.exec(`BEGIN`)
		for range 8 {
			one := stored{users[random.IntN(len(users))], names[random.IntN(len(names))]}
			turns[s.turn(one.user, one.session, text(8), text(20))] = one
		}
		s.exec(`COMMIT`)
		if round%3 == 0 {
			for turn := range turns {
				s.delete(turn)
				delete(turns, turn)
				break
			}
		}
		for range 3 {
			asking := stored{users[random.IntN(len(users))], names[random.IntN(len(names))]}
			for _, turn := range find(t, x, asking.user, asking.session, text(5)) {
				found++
				if of, ok := turns[turn]; !ok || of.user != asking.user || of.session == asking.session {
					t.Fatalf("%+v was given turn %d of %+v (stored: %v)", asking, turn, of, ok)
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d turns were found: the property says little", found)
	}
}

//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// What is said in one session, and what asks for it in another.
const (
	fact   = "n=2 the staging machine is called heron"
	recall = "n=1 which name has the staging machine"
)

// remembering chats in a new session of a user and returns what the model was sent as the input.
func (s *shared) remembering(e *host.Engine, id, user, input string) string {
	s.t.Helper()
	say(e, id, user, "session-of-"+id, input)
	wantWarnings(s.t, wantWhole(s.t, e, id, fakellama.Text(input)))
	answers := s.WaitAnswers(1)
	messages := answers[len(answers)-1].Messages()
	if len(messages) != 1 {
		s.t.Errorf("%s: the model was sent %d messages", id, len(messages))
	}
	return messages[0].Content
}

// wantMemory wants the fact before the question, marked as memory, or the question alone.
func wantMemory(t *testing.T, input string, remembered bool) {
	t.Helper()
	memory, asked, marked := strings.Cut(input, "</memory>")
	switch {
	case !remembered && input != recall:
		t.Errorf("the model was sent %q", input)
	case remembered && (!marked || !strings.HasPrefix(memory, "<memory>") || !strings.Contains(memory, "heron") || strings.TrimSpace(asked) != recall):
		t.Errorf("the model was not reminded: %q", input)
	}
}

func TestMemoryOfOtherSessions(t *testing.T) {
	t.Parallel()
	s := newShared(t, "")
	e := s.start(host.Options{})
	other := s.start(host.Options{}) // which shares the folder
	say(e, "said", "u", "first", fact)
	wantWhole(t, e, "said", fakellama.Text(fact))
	wantMemory(t, s.remembering(e, "own", "u", recall), true)
	wantMemory(t, s.remembering(other, "elsewhere", "u", recall), true)
	wantMemory(t, s.remembering(e, "foreign", "v", recall), false)
	wantEnd(t, e, nil)
	e = s.start(host.Options{})
	wantMemory(t, s.remembering(e, "later", "u", recall), true)
	wantMemory(t, s.remembering(e, "still foreign", "w", recall), false)
	if got := e.Names("later"); !strings.HasPrefix(got, "[run_start memory_start llm_start ") {
		t.Errorf("the events are %s", got)
	}
	// Within its session a turn is history, not memory.
	say(e, "same", "u", "first", recall)
	e.Result("same")
	messages := s.newest(7).Messages()
	if len(messages) != 3 || messages[0].Content != fact || !strings.HasSuffix(messages[2].Content, recall) {
		t.Errorf("the model was sent %v", messages)
	}
}

func TestMemoryThatIsOff(t *testing.T) {
	t.Parallel()
	s := newShared(t, "memory: {enabled: false}\n")
	e := s.start(host.Options{})
	say(e, "said", "u", "first", fact)
	e.Result("said")
	wantMemory(t, s.remembering(e, "own", "u", recall), false)
	if got := e.Names("own"); strings.Contains(got, "memory_start") {
		t.Errorf("the events are %s", got)
	}
	wantEnd(t, e, nil)
	if _, err := os.Stat(s.index()); err == nil {
		t.Error("an index was made")
	}
}

// index is the file of the memory.
func (s *shared) index() string { return filepath.Join(s.data, "memory.db") }

func TestDeletedSessionIsForgotten(t *testing.T) {
	t.Parallel()
	s := newShared(t, "")
	e := s.start(host.Options{})
	say(e, "said", "u", "first", fact)
	wantWhole(t, e, "said", fakellama.Text(fact))
	wantMemory(t, s.remembering(e, "own", "u", recall), true)
	// The engine gives the session back behind the result.
	testkit.Until(t, "the sessions are deleted", func() bool { return s.tryDelete("u", "first") && s.tryDelete("u", "session-of-own") })
	wantMemory(t, s.remembering(e, "again", "u", recall), false)
	wantEnd(t, e, nil)
	// The words in the index can't be found any more; FTS5 drops them from its file when it merges.
	for _, name := range []string{"sessions.db", "sessions.db-wal"} {
		if text, _ := os.ReadFile(filepath.Join(s.data, name)); bytes.Contains(text, []byte("heron")) {
			t.Errorf("%s still holds what was deleted", name)
		}
	}
}

// tryDelete deletes a session unless an engine has it; one that isn't there any more counts as deleted.
func (s *shared) tryDelete(user, session string) bool {
	_, stderr, err := s.runSessions("delete", "--user", user, session)
	return err == nil || strings.Contains(stderr, "has no session")
}

func TestLostMemoryIsBuiltAnew(t *testing.T) {
	losses := map[string]func(*shared){
		"removed": func(s *shared) {
			for _, companion := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(s.index() + companion)
			}
		},
		"garbage": func(s *shared) { s.overwrite(bytes.Repeat([]byte("no database "), 5000)) },
		"empty":   func(s *shared) { s.overwrite(nil) },
	}
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShared(t, "")
			e := s.start(host.Options{})
			say(e, "said", "u", "first", fact)
			wantWhole(t, e, "said", fakellama.Text(fact))
			wantMemory(t, s.remembering(e, "before", "u", recall), true)
			wantEnd(t, e, nil)
			lose(s)
			e = s.start(host.Options{})
			wantMemory(t, s.remembering(e, "after", "u", recall), true)
			lose(s) // while it is used
			wantMemory(t, s.remembering(e, "beneath", "u", recall), true)
			wantEnd(t, e, nil)
		})
	}
}

func (s *shared) overwrite(text []byte) {
	s.t.Helper()
	if err := os.WriteFile(s.index(), text, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// Vectors are asked of the server that the engine is attached to; one that has none leaves words.
func TestMemoryWithVectors(t *testing.T) {
	for name, able := range map[string]bool{"a server that can": true, "a server that can't": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShared(t, "models: [{name: m}]\nmemory: {embedding_model: m}\n")
			if !able {
				s.Server = fakellama.Start(t, fakellama.Options{})
			}
			e := s.start(host.Options{})
			say(e, "said", "u", "first", fact)
			wantWhole(t, e, "said", fakellama.Text(fact))
			wantMemory(t, s.remembering(e, "own", "u", recall), true)
			if asked := s.Asked("/v1/embeddings"); asked == 0 {
				t.Error("no vectors were asked for")
			}
			wantEnd(t, e, nil)
		})
	}
}

// A real server makes the vectors beside the one that answers; where it can't, the log says what to do,
// and the memory goes by words.
func TestRealVectors(t *testing.T) {
	for args, told := range map[string]string{quick + `, "--pooling", "mean"`: "past turns got vectors", quick: "--pooling mean"} {
		t.Run(told, func(t *testing.T) {
			t.Parallel()
			r := newReal(t)
			e := r.start(args, one+fmt.Sprintf("app: {data_dir: %q}\nmemory: {embedding_model: default}\nlog: {level: debug}\n", r.path("data")), host.Options{})
			for i, input := range []string{"Tell me of pipes.", "Tell me of streams.", "What of pipes?"} {
				id := numbered("c", i)
				say(e, id, "u", id, input)
				if warnings := wantText(t, e, id).Get("warnings").Array(); len(warnings) > 0 {
					t.Errorf("%s: the warnings are %s", id, warnings)
				}
			}
			testkit.Until(t, "the log tells "+told, func() bool { return strings.Contains(e.Stderr(), told) })
			if len(r.pids()) != 2 {
				t.Errorf("the servers are %v", r.pids())
			}
			guardian := guardianOf(t, e.PID())
			wantEnd(t, e, nil)
			r.wantNothingLeft(guardian)
		})
	}
}

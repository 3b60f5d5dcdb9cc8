//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit"
	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// shared is a data folder that engines share, with a fake llama-server that they are attached to.
type shared struct {
	t *testing.T
	*fakellama.Server
	data string
	// dir holds the newest engine's configuration.
	dir string
	// app are more entries of app, config is more configuration.
	app, config string
}

// newShared starts the server.
func newShared(t *testing.T, config string) *shared {
	t.Helper()
	return &shared{t: t, Server: fakellama.Start(t, fakellama.Options{Embeddings: true}), data: t.TempDir(), config: config}
}

// start starts an engine that logs all there is; no secret is in that, nor in what it tells the host.
func (s *shared) start(o host.Options) *host.Engine {
	s.t.Helper()
	s.dir = s.t.TempDir()
	o.Dir = s.dir
	e := spawn(s.t, fmt.Sprintf("log: {level: debug}\nllama_server: {url: %q}\napp: {data_dir: %q%s}\n%s", s.URL, s.data, s.app, s.config), o)
	s.t.Cleanup(func() { wantNoSecret(s.t, e, toolSecret) })
	return e
}

func wantNoSecret(t *testing.T, e *host.Engine, secret string) {
	t.Helper()
	for line := range lines(e.Stderr()) {
		if strings.Contains(line, secret) {
			t.Errorf("the log holds %s: %.500s", secret, line)
		}
	}
	for _, m := range e.Messages() {
		if strings.Contains(m.Raw, secret) {
			t.Errorf("stdout holds %s: %.500s", secret, m.Raw)
		}
	}
}

// sessions runs `sluice sessions` and returns what it prints.
func (s *shared) sessions(args ...string) string {
	s.t.Helper()
	stdout, stderr, err := s.runSessions(args...)
	if err != nil {
		s.t.Fatalf("sessions %q: %v: %s", args, err, stderr)
	}
	return stdout
}

func (s *shared) runSessions(args ...string) (stdout, stderr string, err error) {
	s.t.Helper()
	command := exec.Command(built(s.t), append([]string{"sessions"}, args...)...)
	command.Dir = s.dir
	var out, errors strings.Builder
	command.Stdout, command.Stderr = &out, &errors
	err = command.Run()
	return out.String(), errors.String(), err
}

// turns are a session's turns.
func (s *shared) turns(user, session string) []gjson.Result {
	s.t.Helper()
	return gjson.Get(s.sessions("show", "--json", "--user", user, session), "turns").Array()
}

// say sends a chat of a user's session.
func say(e *host.Engine, id, user, session, input string) {
	e.Send(id, "chat", chatOf(input, map[string]any{"user_id": user, "session_id": session}))
}

// newest is the request that the server answered last of n.
func (s *shared) newest(n int) fakellama.Answer {
	s.t.Helper()
	answers := s.WaitAnswers(n)
	if len(answers) != n {
		s.t.Fatalf("the server was asked %d times, not %d", len(answers), n)
	}
	return answers[n-1]
}

// conversation renders the messages of a request, one a line.
func conversation(a fakellama.Answer) string {
	var b strings.Builder
	for _, m := range a.Messages() {
		fmt.Fprintf(&b, "%s:%s|", m.Role, m.Content)
	}
	return b.String()
}

func TestSessionIsInTheNextChat(t *testing.T) {
	t.Parallel()
	s := newShared(t, "memory: {enabled: false}\n")
	first := "user:n=2 one|assistant: w0 w1|"
	asked := 0
	ask := func(e *host.Engine, user, session, input, before string) {
		t.Helper()
		asked++
		id := numbered("c", asked)
		say(e, id, user, session, input)
		wantWhole(t, e, id, fakellama.Text(input))
		if got, want := conversation(s.newest(asked)), before+"user:"+input+"|"; got != want {
			t.Errorf("the model was sent %q, want %q", got, want)
		}
	}
	e := s.start(host.Options{})
	ask(e, "u", "s", "n=2 one", "")
	ask(e, "u", "s", "n=1 two", first)
	ask(e, "v", "s", "n=1 three", "")
	ask(e, "u", "t", "n=1 four", "")
	e.CloseStdin()
	wantExit(t, e, 0)
	e = s.start(host.Options{})
	ask(e, "u", "s", "n=1 five", first+"user:n=1 two|assistant: w0|")
	ask(e, "w", "s", "n=1 six", "")
	for _, turn := range s.turns("u", "s") {
		if turn.Get("status").Str != "done" || turn.Get("response").Str != fakellama.Text(turn.Get("input").Str) {
			t.Errorf("stored is %s", turn.Raw)
		}
	}
}

// waitState waits until a chat is in a state.
func waitState(t *testing.T, e *host.Engine, id, state string) {
	t.Helper()
	asked := 0
	testkit.Until(t, id+" is in the state "+state, func() bool {
		asked++
		stats := e.Call(numbered("state-of-"+id, asked), "stats", nil)
		return stats.Get(`result.chats.#(id=="`+id+`").state`).Str == state
	})
}

// The chat that waits for its session holds neither a slot of the model nor a place among those that run.
func TestChatsOfASessionRunOneAfterTheOther(t *testing.T) {
	for name, engines := range map[string]int{"one engine": 1, "two engines": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// One engine needs a place for the chat that hangs.
			s := newShared(t, fmt.Sprintf("memory: {enabled: false}\nmodels: [{name: m, parallel: %d}]\n", 3-engines))
			s.app = fmt.Sprintf(", max_parallel_chats: %d", 3-engines)
			holder := s.start(host.Options{})
			waiter := holder
			if engines == 2 {
				waiter = s.start(host.Options{})
			}
			say(holder, "a", "u", "s", "n=9 hang=3")
			holder.Event("a", "llm_chunk")
			say(waiter, "b", "u", "s", "n=2 b")
			waitState(t, waiter, "b", "session")
			for i := range 3 {
				id := numbered("c", i)
				say(waiter, id, "u", id, "n=3")
				wantWhole(t, waiter, id, fakellama.Text("n=3"))
			}
			if s.Most() != 2 {
				t.Errorf("%d requests at once", s.Most())
			}
			holder.Call("x", "cancel", map[string]any{"request_id": "a"})
			holder.Error("a", "cancelled")
			wantWhole(t, waiter, "b", fakellama.Text("n=2"))
			if got := conversation(s.newest(5)); got != "user:n=9 hang=3|assistant: w0 w1 w2|user:n=2 b|" {
				t.Errorf("the model was sent %q", got)
			}
		})
	}
}

// A chat that waits for its session can be cancelled, and shutdown ends it, too.
func TestChatThatWaitsForItsSessionEnds(t *testing.T) {
	t.Parallel()
	s := newShared(t, "")
	e := s.start(host.Options{})
	say(e, "a", "u", "s", "n=9 hang=3")
	e.Event("a", "llm_chunk")
	for _, id := range []string{"b", "c"} {
		say(e, id, "u", "s", "n=1")
		waitState(t, e, id, "session")
	}
	e.Call("x", "cancel", map[string]any{"request_id": "b"})
	e.Error("b", "cancelled")
	e.Send("y", "shutdown", nil)
	e.Error("a", "cancelled")
	e.Error("c", "cancelled")
	wantExit(t, e, 0)
	if turns := s.turns("u", "s"); len(turns) != 1 || turns[0].Get("status").Str != "cancelled" {
		t.Errorf("stored are %s", turns)
	}
}

func TestManyChatsWithSessions(t *testing.T) {
	for name, engines := range map[string]int{"one engine": 1, "two engines": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const chats, sessions = 64, 8
			s := newShared(t, "")
			s.app = ", max_parallel_chats: 64"
			var all []*host.Engine
			for range engines {
				all = append(all, s.start(host.Options{}))
			}
			for i := range chats {
				say(all[i%engines], numbered("c", i), "u", numbered("s", i/engines%sessions), fmt.Sprintf("n=%d chat-%d", 10+i%7, i))
			}
			for i := range chats {
				wantWhole(t, all[i%engines], numbered("c", i), fakellama.Text(fmt.Sprintf("n=%d", 10+i%7)))
			}
			for i := range sessions {
				turns := s.turns("u", numbered("s", i))
				if engines == 1 && !slices.IsSorted(numbers(turns)) {
					t.Errorf("session %d was not served in arrival order: %v", i, numbers(turns))
				}
				if len(turns) != chats/sessions || slices.ContainsFunc(turns, func(turn gjson.Result) bool { return turn.Get("status").Str != "done" }) {
					t.Errorf("session %d has %d turns: %s", i, len(turns), turns)
				}
			}
		})
	}
}

// numbers are those that the chats of TestManyChatsWithSessions were sent with.
func numbers(turns []gjson.Result) (list []int) {
	for _, turn := range turns {
		_, number, _ := strings.Cut(turn.Get("input").Str, "chat-")
		n, _ := strconv.Atoi(number)
		list = append(list, n)
	}
	return list
}

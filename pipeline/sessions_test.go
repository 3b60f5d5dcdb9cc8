package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/agent"
)

// memorySessions keep turns in memory. Some sessions are there from the start, all of the user that a
// chat has which names none: killed holds a turn whose engine was killed amid its calls, another engine
// has taken for the first ten seconds, a row of damaged was set aside, and nothing can be written to full.
// A wait that is cancelled takes closeTime to end, as those of the models and tools do: so a transcript can
// tell what comes first.
type memorySessions struct {
	mu    sync.Mutex
	turns map[string][]*wire.Turn
	next  int64
	held  map[string]bool
	queue map[string][]chan struct{} // those who wait, in order
}

const ownUser = "default_user"

func newMemorySessions() *memorySessions {
	s := &memorySessions{turns: map[string][]*wire.Turn{}, held: map[string]bool{ownUser + "/taken": true}, queue: map[string][]chan struct{}{}}
	s.next = 1
	call := func(id, tool, args string) wire.TurnCall {
		return wire.TurnCall{ToolCall: wire.ToolCall{ID: id, Function: "s__" + tool, Arguments: args}, Tool: "s/" + tool}
	}
	calls := []wire.TurnCall{call("c1", "echo", `{"n":1}`), call("c2", "slow", `{"s":9}`), call("c3", "echo", `{"n":3}`)}
	calls[0].Started, calls[0].Result = true, &wire.ToolResult{Status: wire.ToolOK, Text: `{"n":1}`}
	calls[1].Started = true
	s.turns[ownUser+"/killed"] = []*wire.Turn{{ID: 1, Input: "before | SHOW", Status: wire.TurnRunning, Steps: []wire.TurnStep{{Text: "see:", Calls: calls}}}}
	time.AfterFunc(10*time.Second, func() { s.release(ownUser + "/taken") })
	return s
}

// Open implements agent.Sessions.
func (s *memorySessions) Open(ctx context.Context, user, session string, waiting func()) (agent.Session, error) {
	key := user + "/" + session
	opened := &memorySession{sessions: s, key: key}
	s.mu.Lock()
	if !s.held[key] {
		s.held[key] = true
		s.mu.Unlock()
		return opened, nil
	}
	turn := make(chan struct{})
	s.queue[key] = append(s.queue[key], turn)
	s.mu.Unlock()
	waiting()
	select {
	case <-turn:
		return opened, nil
	case <-ctx.Done():
		time.Sleep(closeTime)
		s.giveUp(key, turn)
		return nil, context.Cause(ctx)
	}
}

func (s *memorySessions) giveUp(key string, turn chan struct{}) {
	s.mu.Lock()
	at := slices.Index(s.queue[key], turn)
	if at >= 0 {
		s.queue[key] = slices.Delete(s.queue[key], at, at+1)
	}
	s.mu.Unlock()
	if at < 0 { // it came in this moment
		s.release(key)
	}
}

func (s *memorySessions) release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting := s.queue[key]; len(waiting) > 0 {
		s.queue[key] = waiting[1:]
		close(waiting[0])
		return
	}
	delete(s.held, key)
}

// memorySession is one session, while one chat has it.
type memorySession struct {
	sessions *memorySessions
	key      string
}

func (s *memorySession) full() error {
	if strings.HasSuffix(s.key, "/full") {
		return errors.New("the disk is full; free some space")
	}
	return nil
}

func (s *memorySession) write(turn int64, change func(*wire.Turn)) error {
	if err := s.full(); err != nil {
		return err
	}
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	for _, t := range s.sessions.turns[s.key] {
		if t.ID == turn {
			change(t)
		}
	}
	return nil
}

// Warnings implements agent.Session.
func (s *memorySession) Warnings() []string {
	if strings.HasSuffix(s.key, "/damaged") {
		return []string{"a damaged turn of this session was set aside"}
	}
	return nil
}

// Last implements agent.Session.
func (s *memorySession) Last(context.Context, int) (*wire.Turn, error) {
	turns := s.sessions.turns[s.key]
	if len(turns) == 0 {
		return nil, nil
	}
	last := copiedTurn(turns[len(turns)-1])
	return &last, nil
}

// History implements agent.Session: all of it.
func (s *memorySession) History(_ context.Context, before int64, _, _ int) (turns []wire.Turn, err error) {
	for _, turn := range slices.Backward(s.sessions.turns[s.key]) {
		if turn.ID < before || before == 0 {
			turns = append(turns, copiedTurn(turn))
		}
	}
	return turns, nil
}

// Begin implements agent.Session.
func (s *memorySession) Begin(_ context.Context, turn *wire.Turn) error {
	if err := s.full(); err != nil {
		return err
	}
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	s.sessions.next++
	turn.ID = s.sessions.next
	kept := copiedTurn(turn)
	s.sessions.turns[s.key] = append(s.sessions.turns[s.key], &kept)
	return nil
}

// SaveStep implements agent.Session.
func (s *memorySession) SaveStep(_ context.Context, turn int64, step *wire.TurnStep) error {
	kept := *step
	kept.Calls = slices.Clone(step.Calls)
	return s.write(turn, func(t *wire.Turn) { t.Steps = append(t.Steps, kept) })
}

// StartCall implements agent.Session.
func (s *memorySession) StartCall(_ context.Context, turn int64, step, index int) error {
	return s.write(turn, func(t *wire.Turn) { t.Steps[step].Calls[index].Started = true })
}

// EndCall implements agent.Session.
func (s *memorySession) EndCall(_ context.Context, turn int64, step, index int, result *wire.ToolResult) error {
	kept := *result
	return s.write(turn, func(t *wire.Turn) { t.Steps[step].Calls[index].Result = &kept })
}

// Resume implements agent.Session.
func (s *memorySession) Resume(_ context.Context, turn int64) error {
	return s.write(turn, func(t *wire.Turn) { t.Status = wire.TurnRunning })
}

// End implements agent.Session.
func (s *memorySession) End(_ context.Context, turn int64, status wire.TurnStatus, response string) error {
	return s.write(turn, func(t *wire.Turn) { t.Status, t.Response = status, response })
}

// Close implements agent.Session.
func (s *memorySession) Close() { s.sessions.release(s.key) }

// copiedTurn is a turn that shares nothing that changes.
func copiedTurn(turn *wire.Turn) wire.Turn {
	c := *turn
	c.Steps = slices.Clone(turn.Steps)
	for i := range c.Steps {
		c.Steps[i].Calls = slices.Clone(c.Steps[i].Calls)
	}
	return c
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/internal/wire"
)

// fakeSessions keep turns in memory, by user and session.
type fakeSessions struct {
	world *world
	turns map[string][]*wire.Turn
	next  int64
	// wait is how long another chat has the session; warnings are those of Open.
	wait     time.Duration
	warnings []string
	// broken names the writes and reads that fail; met is a warning that the first History adds.
	broken, met string
}

var errDisk = errors.New("the disk is full; free some space")

// Open implements Sessions.
func (f *fakeSessions) Open(ctx context.Context, user, session string, waiting func()) (Session, error) {
	if f.wait > 0 {
		waiting()
		if err := pause(ctx, f.wait); err != nil {
			return nil, err
		}
	}
	f.world.note("Open")
	return &fakeSession{f, user + "/" + session}, nil
}

type fakeSession struct {
	*fakeSessions
	key string
}

func (s *fakeSession) find(id int64) *wire.Turn {
	for _, turn := range s.turns[s.key] {
		if turn.ID == id {
			return turn
		}
	}
	return nil
}

// does notes an operation and fails when it is broken.
func (s *fakeSession) does(ctx context.Context, name, format string, args ...any) error {
	if err := ctx.Err(); err != nil {
		s.world.t.Errorf("%s with a context that ended", name)
	}
	if _, bounded := ctx.Deadline(); !bounded && !strings.Contains("Last History", name) {
		s.world.t.Errorf("%s has no deadline", name)
	}
	if strings.Contains(s.broken, name) {
		s.world.note(name+" fails"+format, args...)
		return fmt.Errorf("%w (%s)", errDisk, name) // each in words of its own
	}
	s.world.note(name+format, args...)
	return nil
}

// Warnings implements Session.
func (s *fakeSession) Warnings() []string { return s.warnings }

// Last implements Session.
func (s *fakeSession) Last(ctx context.Context, maxResultBytes int) (*wire.Turn, error) {
	if err := s.does(ctx, "Last", ""); err != nil {
		return nil, err
	}
	turns := s.turns[s.key]
	if len(turns) == 0 {
		return nil, nil
	}
	last := copied(turns[len(turns)-1])
	cutResults(&last, maxResultBytes)
	return &last, nil
}

// History implements Session.
func (s *fakeSession) History(_ context.Context, before int64, maxBytes, maxResultBytes int) (turns []wire.Turn, err error) {
	if strings.Contains(s.broken, "History") {
		return nil, errDisk
	}
	if s.met != "" {
		s.warnings = append(s.warnings, s.met)
	}
	for _, turn := range slices.Backward(s.turns[s.key]) {
		if before != 0 && turn.ID >= before {
			continue
		}
		one := copied(turn)
		cutResults(&one, maxResultBytes)
		maxBytes -= len(one.Input) + len(one.Response)
		for _, step := range one.Steps {
			maxBytes -= len(step.Text)
			for c := range step.Calls {
				if r := step.Calls[c].Result; r != nil {
					maxBytes -= len(r.Text)
				}
			}
		}
		if maxBytes < 0 && len(turns) > 0 {
			break
		}
		turns = append(turns, one)
	}
	return turns, nil
}

// Begin implements Session.
func (s *fakeSession) Begin(ctx context.Context, turn *wire.Turn) error {
	if err := s.does(ctx, "Begin", ""); err != nil {
		return err
	}
	s.next++
	turn.ID = s.next
	kept := copied(turn)
	s.turns[s.key] = append(s.turns[s.key], &kept)
	return nil
}

// SaveStep implements Session.
func (s *fakeSession) SaveStep(ctx context.Context, turn int64, step *wire.TurnStep) error {
	if err := s.does(ctx, "SaveStep", " %d", step.Number); err != nil {
		return err
	}
	t := s.find(turn)
	t.Steps = append(t.Steps, copiedStep(*step))
	return nil
}

func (s *fakeSession) call(turn int64, step, index int) *wire.TurnCall {
	steps := s.find(turn).Steps
	at := slices.IndexFunc(steps, func(each wire.TurnStep) bool { return each.Number == step })
	return &steps[at].Calls[index]
}

// StartCall implements Session.
func (s *fakeSession) StartCall(ctx context.Context, turn int64, step, index int) error {
	if err := s.does(ctx, "StartCall", " %d.%d", step, index); err != nil {
		return err
	}
	s.call(turn, step, index).Started = true
	return nil
}

// EndCall implements Session.
func (s *fakeSession) EndCall(ctx context.Context, turn int64, step, index int, result *wire.ToolResult) error {
	if err := s.does(ctx, "EndCall", " %d.%d %s", step, index, result.Status); err != nil {
		return err
	}
	kept := *result
	s.call(turn, step, index).Result = &kept
	return nil
}

// Resume implements Session.
func (s *fakeSession) Resume(ctx context.Context, turn int64) error {
	if err := s.does(ctx, "Resume", " %d", turn); err != nil {
		return err
	}
	s.find(turn).Status = wire.TurnRunning
	return nil
}

// End implements Session.
func (s *fakeSession) End(ctx context.Context, turn int64, status wire.TurnStatus, response string) error {
	if err := s.does(ctx, "End", " %s %s", status, response); err != nil {
		return err
	}
	t := s.find(turn)
	t.Status, t.Response = status, response
	return nil
}

// Close implements Session.
func (s *fakeSession) Close() { s.world.note("Close") }

func copied(turn *wire.Turn) wire.Turn {
	c := *turn
	c.Steps = nil
	for _, step := range turn.Steps {
		c.Steps = append(c.Steps, copiedStep(step))
	}
	return c
}

// cutResults cuts a turn's results as a store does.
func cutResults(turn *wire.Turn, size int) {
	for _, step := range turn.Steps {
		for i := range step.Calls {
			if r := step.Calls[i].Result; r != nil && len(r.Text) > size {
				r.Bytes, r.Text = len(r.Text), cut(r.Text, size)
			}
		}
	}
}

func copiedStep(step wire.TurnStep) wire.TurnStep {
	step.Calls = slices.Clone(step.Calls)
	for i := range step.Calls {
		if r := step.Calls[i].Result; r != nil {
			kept := *r
			step.Calls[i].Result = &kept
		}
	}
	return step
}

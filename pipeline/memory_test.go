package pipeline

import (
	"context"
	"errors"
	"strings"
	"time"

	"sluice/internal/wire"
)

// scriptedMemory looks for a second, and finds the answered turns of the user's other sessions, newest
// first, whose input has a word of the text. The text forget can't be looked for.
type scriptedMemory struct{ sessions *memorySessions }

// Retrieve implements agent.Memory.
func (m scriptedMemory) Retrieve(ctx context.Context, user, session, text string) (found []wire.Snippet, err error) {
	if err := pause(ctx, time.Second); err != nil {
		time.Sleep(closeTime)
		return nil, err
	}
	if text == "forget" {
		return nil, errors.New("its index is being built; ask again later")
	}
	m.sessions.mu.Lock()
	defer m.sessions.mu.Unlock()
	for id := m.sessions.next; id > 0; id-- {
		if key, turn := m.find(id); turn != nil && strings.HasPrefix(key, user+"/") && key != user+"/"+session && turn.Status == wire.TurnDone && related(turn.Input, text) {
			found = append(found, wire.Snippet{Turn: id, SessionID: strings.TrimPrefix(key, user+"/"), When: turn.Started, Input: turn.Input, Response: turn.Response})
		}
	}
	return found, nil
}

func (m scriptedMemory) find(id int64) (key string, turn *wire.Turn) {
	for key, turns := range m.sessions.turns {
		for _, turn := range turns {
			if turn.ID == id {
				return key, turn
			}
		}
	}
	return "", nil
}

func related(input, text string) bool {
	for word := range strings.FieldsSeq(text) {
		if strings.Contains(" "+input+" ", " "+word+" ") {
			return true
		}
	}
	return false
}

package llama

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"sluice/internal/wire"
)

// slowBody brings one event a read, as a stream does whose reader is faster than the model.
type slowBody struct {
	event string
	left  int
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	b.left--
	return copy(p, b.event), nil
}

func (b *slowBody) Close() error { return nil }

// tokenCounter is a stage that counts tokens.
type tokenCounter struct{ tokens int }

func (c *tokenCounter) Push(_ context.Context, element any) error {
	c.tokens += element.(*wire.Tokens).Len()
	return nil
}

func (c *tokenCounter) Done(error) {}

// TestSlowStreamsCostNoAllocation: an event that comes alone costs none from the body on, also when it
// ends in the next read.
func TestSlowStreamsCostNoAllocation(t *testing.T) {
	whole := event(content(`" stream"`))
	for name, text := range map[string]string{"whole": whole, "cut": whole[20:] + whole[:20]} {
		t.Run(name, func(t *testing.T) {
			cost := func(events int) float64 {
				return testing.AllocsPerRun(5, func() {
					c := &tokenCounter{}
					s := &Stream{next: c}
					body := &slowBody{event: text, left: events}
					if err := s.receive(context.Background(), body, &Silence{start: time.Now()}); !errors.Is(err, io.ErrUnexpectedEOF) {
						t.Fatal(err)
					}
					if c.tokens < events-1 {
						t.Fatalf("%d tokens of %d events", c.tokens, events)
					}
				})
			}
			if few, many := cost(100), cost(10_000); many > few {
				t.Errorf("100 events cost %v allocations, 10,000 cost %v", few, many)
			}
		})
	}
}

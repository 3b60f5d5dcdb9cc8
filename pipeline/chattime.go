package pipeline

import (
	"sync"

	"sluice/internal/wire"
)

// chatTime sums where the time of all ended chats went.
type chatTime struct {
	mu  sync.Mutex
	all wire.Timings
}

func (c *chatTime) add(t wire.Timings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Queue += t.Queue
	c.all.Load += t.Load
	c.all.Plan += t.Plan
	c.all.TTFT += t.TTFT
	c.all.Total += t.Total
	c.all.Upstream += t.Upstream
	c.all.Tool += t.Tool
	c.all.Engine += t.Engine
	c.all.Reader += t.Reader
}

func (c *chatTime) sum() wire.Timings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

package execute

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sluice/internal/wire"
)

// fakeModels are servers that are idle a time after a cancel, or never (0).
type fakeModels struct {
	idle        time.Duration
	queue, load time.Duration
	planned     [2]time.Time // when the server's start was planned
	mu          sync.Mutex
	leases, max int
	came        []string // the models of Acquire, in its order
	acquired    int      // of the model once, which can be had once
}

// Acquire implements Models.
func (m *fakeModels) Acquire(ctx context.Context, model string, phase func(wire.Phase)) (Lease, error) {
	m.mu.Lock()
	m.came = append(m.came, model)
	m.mu.Unlock()
	switch model {
	case "panics":
		panic("told to")
	case "once":
		m.mu.Lock()
		m.acquired++
		n := m.acquired
		m.mu.Unlock()
		if n > 1 {
			return nil, wire.NewFault(wire.CodeBinaryMissing, "it is gone")
		}
	case "broken":
		return nil, wire.NewFault(wire.CodeModelMissing, "no such file")
	case "slow":
		for _, p := range []wire.Phase{wire.PhaseServerStart, wire.PhaseModelLoad, wire.PhaseQueue} {
			phase(p)
			if err := sleep(ctx, time.Minute); err != nil {
				return nil, err
			}
		}
	}
	time.Sleep(m.queue + m.load)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leases++
	m.max = max(m.max, m.leases)
	return &fakeLease{models: m}, nil
}

// arrivals are the models of Acquire so far, in its order.
func (m *fakeModels) arrivals() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.came)
}

// Warm implements Models.
func (m *fakeModels) Warm(ctx context.Context, model string) error {
	lease, err := m.Acquire(ctx, model, func(wire.Phase) {})
	if err == nil {
		lease.Release()
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 { // a timer that is due at once crashes the race detector in a bubble now and then (Go 1.26)
		return context.Cause(ctx)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type fakeLease struct {
	models *fakeModels
	once   sync.Once
}

// Release implements Lease.
func (l *fakeLease) Release() {
	l.once.Do(func() {
		l.models.mu.Lock()
		defer l.models.mu.Unlock()
		l.models.leases--
	})
}

// Waited implements Lease.
func (l *fakeLease) Waited() (queue, load time.Duration) { return l.models.queue, l.models.load }

// Planned implements Lease.
func (l *fakeLease) Planned() (began, ended time.Time) {
	return l.models.planned[0], l.models.planned[1]
}

// ContextSize implements Lease.
func (l *fakeLease) ContextSize(context.Context) int { return 0 }

// Count implements Lease.
func (l *fakeLease) Count(context.Context, *wire.ModelRequest) (int, error) {
	return 0, errors.New("it doesn't tell")
}

// Idle implements Lease.
func (l *fakeLease) Idle(ctx context.Context) bool {
	if l.models.idle == 0 {
		<-ctx.Done()
		return false
	}
	return sleep(ctx, l.models.idle) == nil
}

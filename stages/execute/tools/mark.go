package tools

import (
	"context"
	"sync/atomic"
)

// mark tells whether a call may have reached the server. It travels in the call's context. A nil mark
// is one that nobody asks.
type mark struct{ sent atomic.Bool }

type markKey struct{}

func withMark(ctx context.Context, m *mark) context.Context {
	return context.WithValue(ctx, markKey{}, m)
}

// markOf returns the context's mark; nil when it has none.
func markOf(ctx context.Context) *mark {
	m, _ := ctx.Value(markKey{}).(*mark)
	return m
}

func (m *mark) set(sent bool) {
	if m != nil {
		m.sent.Store(sent)
	}
}

package stdout

import "context"

// Gate waits until fewer than GuaranteedBytes of guaranteed frames wait. Whoever takes in requests,
// or starts one, calls it first: it bounds what a reader that never reads can make us keep.
func (s *Sink) Gate(ctx context.Context) error {
	for {
		s.mu.Lock()
		room := s.room
		s.mu.Unlock()
		if room == nil {
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Open reports whether Gate would not wait.
func (s *Sink) Open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room == nil
}

// holdLocked closes the gate when the bound is reached.
func (s *Sink) holdLocked() {
	if s.room == nil && s.guaranteed >= s.options.GuaranteedBytes {
		s.room = make(chan struct{})
	}
}

// openLocked opens the gate when there is room again, or nobody to wait for.
func (s *Sink) openLocked() {
	if s.room != nil && s.guaranteed < s.options.GuaranteedBytes {
		close(s.room)
		s.room = nil
	}
}

package llama

import (
	"context"

	"sluice/internal/wire"
)

// Close fails who waits, asks a spawned server to end, kills it after the stop timeout or when ctx
// ends, and returns when it is gone. Calling it again is harmless.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.failLocked(closedFault())
	if s.current != nil {
		s.current.stop(closedFault())
	}
	s.mu.Unlock()
	defer context.AfterFunc(ctx, s.kill)()
	s.running.Wait()
	s.mu.Lock()
	if i := s.current; i != nil { // an attached one, which has no goroutine
		i.release()
		s.current = nil
	}
	s.mu.Unlock()
	if s.owned {
		s.launcher.Close()
	}
	return nil
}

// kill ends a spawned server at once.
func (s *Server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.current.child != nil {
		s.current.child.Kill()
	}
}

func closedFault() *wire.Fault {
	return startFault("the engine is stopping; start it again")
}

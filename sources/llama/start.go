package llama

import (
	"context"
	"errors"
	"time"

	"sluice/internal/wire"
)

// exitPatience is how long a broken connection waits to be explained by the server's end.
const exitPatience = time.Second

// attach checks an attached server, waiting while it loads its model.
func (s *Server) attach(i *instance) *wire.Fault {
	if i.endpoint.Client == nil {
		endpoint, name, fault := attachEndpoint(s.options)
		if fault != nil {
			return fault
		}
		i.endpoint, i.name, i.capacity = endpoint, name, s.options.Parallel
		i.health = newHealth(i.ctx, endpoint)
	}
	ctx, cancel := context.WithTimeout(i.ctx, s.options.StartupTimeout)
	defer cancel()
	told, fault := i.endpoint.check(ctx, i.name, s.setPhase(i, PhaseModelLoad))
	switch {
	case fault != nil:
		return fault
	case i.ctx.Err() != nil:
		return i.stopped()
	case ctx.Err() != nil:
		return startFault("llama-server at %s was not ready after %s; look at its log, or raise llama_server.startup_timeout", i.name, s.options.StartupTimeout)
	}
	s.tell(i, told)
	return nil
}

// spawn starts a server and returns once it is loaded and proved ours. On a fault nothing is left but
// the process to wait for, which has been killed.
func (s *Server) spawn(i *instance) *wire.Fault {
	if !s.awaitRetry(i) {
		return i.stopped()
	}
	path, flags, fault := s.prepare(i)
	if fault != nil {
		return s.failed(i, fault)
	}
	child, endpoint, fault := startChild(s.options, s.launcher, path, flags)
	if fault != nil {
		return s.failed(i, fault)
	}
	i.endpoint, i.health = endpoint, newHealth(i.ctx, endpoint)
	s.mu.Lock()
	i.child = child
	s.mu.Unlock()
	if fault := s.awaitReady(i); fault != nil {
		child.Kill()
		return s.failed(i, fault)
	}
	return nil
}

// prepare returns which program to start, and with which flags. What is missing is told before anything is
// started.
func (s *Server) prepare(i *instance) (path string, flags []string, fault *wire.Fault) {
	if path, fault = findBinary(s.options.Binary); fault != nil {
		return "", nil, fault
	}
	if s.options.Plan == nil {
		return path, plainFlags(s.options), checkModel(s.options.ModelPath)
	}
	i.planBegan = time.Now()
	flags, err := s.options.Plan(i.ctx, path)
	i.planEnded = time.Now()
	switch stopped := i.stopped(); {
	case err == nil:
		return path, flags, nil
	case stopped != nil:
		return "", nil, stopped
	case !errors.As(err, &fault):
		fault = startFault("the start of llama-server could not be planned: %v", err)
	}
	return "", nil, fault
}

// awaitRetry waits out the delay after a failed start. It reports false when the instance is to stop.
func (s *Server) awaitRetry(i *instance) bool {
	s.mu.Lock()
	wait := time.Until(s.failedAt.Add(s.delay))
	s.mu.Unlock()
	return pause(i.ctx, nil, wait)
}

// failed makes the next start wait, unless this one was only told to stop, or nothing was started
// because something is missing: then the answer costs nothing, and who put it right should not wait.
func (s *Server) failed(i *instance, fault *wire.Fault) *wire.Fault {
	if i.stopped() != nil {
		return fault
	}
	s.options.Logger.Warn("llama-server did not start", "model", s.options.ModelName, "code", fault.Code)
	if fault.Code == wire.CodeInternal {
		s.mu.Lock()
		s.delay, s.failedAt = nextRetry(s.delay), time.Now()
		s.mu.Unlock()
	}
	return fault
}

// awaitReady waits until a spawned server has loaded its model, and has it prove that it is ours.
func (s *Server) awaitReady(i *instance) *wire.Fault {
	ctx, cancel := context.WithTimeout(i.ctx, s.options.StartupTimeout)
	defer cancel()
	var told props
	var err error
	if i.endpoint.awaitLoaded(ctx, i.child.Done(), s.setPhase(i, PhaseModelLoad)) {
		told, err = i.endpoint.prove(ctx, newKey())
	}
	if err != nil && !errors.Is(err, errNotOurs) {
		pause(ctx, i.child.Done(), exitPatience) // the connection broke: its end would explain that
	}
	switch {
	case i.ctx.Err() != nil:
		return i.stopped()
	case i.child.gone():
		i.child.finish()
		return startFault("llama-server ended while it started (%s); check the model, the memory it needs and llama_server.args%s", i.child.how(), i.child.lastLines())
	case ctx.Err() != nil:
		return startFault("llama-server was not ready after %s and was killed; raise llama_server.startup_timeout if the model needs longer%s", s.options.StartupTimeout, i.child.lastLines())
	case err != nil:
		return startFault("what answers is not the llama-server that was started: %v; is %s a wrapper that drops the environment (%s)?", err, s.options.Binary, envKey)
	}
	i.capacity = told.slots
	if s.options.Parallel > 0 {
		i.capacity = min(told.slots, s.options.Parallel)
	}
	s.tell(i, told)
	return nil
}

// tell keeps what a server told of itself. An attached one may be another one than before.
func (s *Server) tell(i *instance, told props) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i.contextSize = told.contextSize
	i.uncountedUntil.Store(0)
}

package tools

import "time"

// end closes the connection and returns when nothing of the life is left.
func (l *life) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	if l.remote != nil {
		l.remote.close(l.killing)
	}
	if l.process != nil {
		_ = l.pipes.Close()
		l.stop()
		l.pipes.wait()
	}
	if l.lost != nil {
		<-l.lost
		_ = l.session.Close() // ends what the session has of its own
	}
	l.calls.Wait()
}

// stop lets the process end by itself, asks it to, and kills it.
func (l *life) stop() {
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-l.process.Done():
		return
	case <-l.killing:
	case <-timer.C:
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		l.process.Stop(stopGrace)
	}()
	select {
	case <-stopped:
	case <-l.killing:
		l.process.Kill()
		<-stopped
	}
}

// cut ends the connection at once.
func (l *life) cut() {
	if l.pipes != nil {
		_ = l.pipes.Close()
	}
	if l.remote != nil {
		l.remote.cut()
	}
}

// kill ends the life at once, also when it is being ended.
func (l *life) kill() {
	l.killOnce.Do(func() { close(l.killing) })
}

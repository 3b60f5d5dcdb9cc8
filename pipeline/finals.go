package pipeline

import "sync"

// finals counts the final frames of chats that the writer has not taken yet.
type finals struct {
	mu      sync.Mutex
	waiting int
	none    chan struct{} // set by allTaken, closed when none waits any more
}

func (f *finals) add() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting++
}

func (f *finals) take() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting--
	if f.waiting == 0 && f.none != nil {
		close(f.none)
		f.none = nil
	}
}

// allTaken returns a channel that is closed once none waits. It is called once, when no chat runs any
// more.
func (f *finals) allTaken() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	none := make(chan struct{})
	if f.waiting == 0 {
		close(none)
	} else {
		f.none = none
	}
	return none
}

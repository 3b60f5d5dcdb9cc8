package memory

import (
	"context"
	"time"
)

const (
	// asidesLimit is how often one Index sets a file aside: two engines of different versions, each of
	// which wants the other's gone, come to an end.
	asidesLimit = 3
	// memoryTurns is how many of the newest journal entries an index without a file follows.
	memoryTurns = 20_000
	busyTries   = 20
	busyPause   = 100 * time.Millisecond
)

// keep opens the files, follows the journal whenever a Retrieve asks, and closes the files when the
// Index is closed.
func (x *Index) keep() {
	defer x.swap(func() {
		x.source.close()
		x.store.close()
		x.source, x.store = nil, nil
	})
	for {
		select {
		case <-x.ctx.Done():
			return
		case <-x.asks.wake:
		}
		waiting := x.asks.take()
		err := x.catchUp(x.ctx)
		x.swap(func() { x.problem = err })
		if err != nil && x.ctx.Err() == nil {
			x.log.Warn("memory is not up to date", "error", explain(x.options.Dir, err))
		}
		for _, done := range waiting {
			close(done)
		}
		signal(x.requests)
	}
}

// swap changes what Retrieves see, while none of them looks.
func (x *Index) swap(change func()) {
	x.files.Lock()
	defer x.files.Unlock()
	change()
}

// catchUp makes the index say what the journal says. What stands in the way of that in memory.db is
// set aside; where no file can be written, the index is kept in memory.
func (x *Index) catchUp(ctx context.Context) error {
	for tries := 0; ; tries++ {
		err := x.attempt(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case isDamage(err):
			err = x.putAside(ctx, err)
		case isUnwritable(err):
			err = x.useMemory(ctx, err)
		case code(err) == codeBusy && tries < busyTries:
			err = pause(ctx, busyPause)
		}
		if err != nil {
			return err
		}
	}
}

// attempt opens what isn't open and follows the journal to its end.
func (x *Index) attempt(ctx context.Context) error {
	if err := x.reopenSource(ctx); err != nil || x.source == nil {
		return err
	}
	if x.store != nil && x.store.replaced(x.path) {
		x.drop()
	}
	if x.store == nil {
		s, err := openStore(ctx, x.path)
		if err != nil {
			return err
		}
		x.swap(func() { x.store = s })
	}
	behind, err := x.store.behind(ctx, x.source)
	if err != nil || !behind {
		return err
	}
	return x.followAll(ctx)
}

func (x *Index) followAll(ctx context.Context) error {
	newest, begin := 0, time.Now()
	if x.store.memory {
		newest = memoryTurns
	}
	for {
		seq, end, err := x.store.follow(ctx, x.source, batchTurns, newest)
		if err != nil {
			return err
		}
		x.log.Debug("memory follows the stored turns", "entry", seq, "of", end, "ms", time.Since(begin).Milliseconds())
		if seq >= end {
			return nil
		}
	}
}

// reopenSource opens sessions.db, again when another file has taken its place.
func (x *Index) reopenSource(ctx context.Context) error {
	if x.source != nil && !x.source.replaced(x.options.Dir) {
		return nil
	}
	x.swap(func() {
		x.source.close()
		x.source = nil
	})
	s, err := openSource(ctx, x.options.Dir)
	x.swap(func() { x.source = s })
	return err
}

// drop closes the index, for another to be opened.
func (x *Index) drop() {
	x.swap(func() {
		x.store.close()
		x.store = nil
	})
	x.signs.forgetAll()
}

// putAside makes room for a new index. Where another engine has done so already, nothing is left to do.
func (x *Index) putAside(ctx context.Context, why error) error {
	replaced := x.store != nil && x.store.replaced(x.path)
	x.drop()
	if replaced {
		return nil
	}
	if x.asides++; x.asides > asidesLimit {
		return x.useMemory(ctx, why)
	}
	x.log.Warn("the index of past sessions is set aside and built anew", "file", x.path, "error", why)
	if err := setAside(x.path, time.Now().UTC().Format("20060102T150405.000000")); err != nil {
		return x.useMemory(ctx, err)
	}
	return nil
}

// useMemory keeps the index in memory from here on.
func (x *Index) useMemory(ctx context.Context, why error) error {
	if x.store != nil && x.store.memory {
		return why
	}
	x.drop()
	s, err := openMemoryStore(ctx)
	if err != nil {
		return err
	}
	x.log.Warn("the index of past sessions can't be kept in its file; the newest turns are indexed in memory, again by each engine; make the folder writable to change that",
		"file", x.path, "turns", memoryTurns, "error", why)
	x.swap(func() { x.store = s })
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

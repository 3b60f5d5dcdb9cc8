package session

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"
)

// A kill while the file is made leaves nothing that is in the way of the next engine.
func TestKillsWhileTheFileIsMade(t *testing.T) {
	making := 0
	for n := range 30 {
		dir := t.TempDir()
		command, _ := child(t, "turns", dir, fmt.Sprint(n))
		for !exists(filepath.Join(dir, lockName)) { // not with a pause: it is made in a moment
			runtime.Gosched()
		}
		for end := rand.IntN(1000); end > 0 && !exists(filepath.Join(dir, fileName)); end-- {
			runtime.Gosched()
			exists(filepath.Join(dir, enginesFolder))
		}
		must(t, command.Process.Kill())
		_ = command.Wait() // it was killed
		if len(named(dir, newName)) > 0 {
			making++
		}
		store := New(Options{Dir: dir})
		s := open(t, store, "u", "s0")
		say(t, s, "goes on", "yes")
		noWarnings(t, s)
		s.Close()
		closeStore(t, store)
		if left := append(named(dir, newName), aside(dir)...); len(left) != 0 {
			t.Errorf("left %q", left)
		}
	}
	t.Logf("%d were killed in the middle of it", making)
}

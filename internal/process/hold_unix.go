//go:build unix

package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// needsGuardian: nothing else ends groups when we are killed. canAsk: SIGTERM asks a process to end.
const needsGuardian, canAsk = true, true

// hold is nothing here: groups and markers are all it takes.
type hold struct{}

func (hold) take(*os.Process) error { return nil }
func (hold) release()               {}

// terminate asks all to end.
func terminate(t target) { signalAll(t, unix.SIGTERM) }

// anyLeft reports whether anything of t still runs. Zombies don't count where they can be told apart.
func (hold) anyLeft(t target) bool { return countLeft(t) > 0 }

// end kills until nothing is left, also what is forked meanwhile, for at most limit. It reports
// whether nothing is left.
func (h hold) end(t target, limit time.Duration) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(pollInterval) {
		signalAll(t, unix.SIGKILL)
		if !h.anyLeft(t) {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

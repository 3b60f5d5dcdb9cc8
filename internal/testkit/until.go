package testkit

import (
	"testing"
	"time"
)

const (
	untilInterval = 5 * time.Millisecond
	untilLimit    = 60 * time.Second
)

// Until waits for a condition of the world outside a bubble, such as a process or a file, and fails
// the test when it hasn't come true after 60 s. It asks every 5 ms.
func Until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(untilInterval)
	defer tick.Stop()
	for end := time.After(untilLimit); !condition(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}

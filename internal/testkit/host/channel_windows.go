package host

import (
	"os"
	"os/exec"
	"testing"
)

// channel returns a pipe: the engine's end and ours. out says that the engine writes to it.
func channel(t testing.TB, _, out, _ bool) (engine, ours *os.File) {
	t.Helper()
	source, target, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if out {
		return target, source
	}
	return source, target
}

func setNonblocking(t testing.TB, _ *os.File) {
	t.Helper()
	t.Fatal("there is no O_NONBLOCK here")
}

func ownGroup(*exec.Cmd) {}

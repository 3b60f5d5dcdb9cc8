//go:build unix

package main

import (
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// blockingPipe returns a pipe whose reading end os takes for a blocking one, as an inherited stdin is.
func blockingPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var ends [2]int
	syscall.ForkLock.RLock()
	err := unix.Pipe(ends[:])
	if err == nil {
		unix.CloseOnExec(ends[0])
		unix.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(ends[0]), "stdin"), os.NewFile(uintptr(ends[1]), "host")
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func TestInputSurvivesNonblockingSetByOthers(t *testing.T) {
	r, w := blockingPipe(t)
	if err := unix.SetNonblock(int(descriptorOf(r)), true); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); err == nil {
		t.Fatal("the pipe isn't the one that the test is about")
	}
	read := make(chan error, 1)
	var all []byte
	go func() {
		var err error
		all, err = io.ReadAll(stdioInput(r))
		read <- err
	}()
	for _, piece := range []string{"one\n", "two\n"} {
		select {
		case err := <-read:
			t.Fatalf("the input ended after %q: %v", all, err)
		default:
		}
		if _, err := w.WriteString(piece); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	if err := <-read; err != nil || string(all) != "one\ntwo\n" {
		t.Errorf("read %q: %v", all, err)
	}
}

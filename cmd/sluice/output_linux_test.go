package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// outputs are the two kinds of stdout that hosts give: a pipe, and a socket as Node gives it.
func outputs(t *testing.T) map[string][2]*os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][2]*os.File{"pipe": {r, w}, "socket": {os.NewFile(uintptr(pair[0]), "host"), os.NewFile(uintptr(pair[1]), "engine")}}
	t.Cleanup(func() {
		for _, f := range files {
			f[0].Close()
			f[1].Close()
		}
	})
	return files
}

func flags(t *testing.T, f *os.File) int {
	t.Helper()
	n, err := unix.FcntlInt(uintptr(descriptorOf(f)), unix.F_GETFL, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTryWriteTakesWhatFitsAndNeverWaits(t *testing.T) {
	for name, files := range outputs(t) {
		t.Run(name, func(t *testing.T) {
			before := flags(t, files[1])
			try := tryWriter(files[1])
			if try == nil {
				t.Fatal("there is no write that doesn't wait")
			}
			line := []byte(strings.Repeat("x", 3000) + "\n")
			taken := 0
			for { // nobody reads, so a write that waited would hang here
				n := try(line)
				taken += n
				if n < len(line) {
					break
				}
			}
			if n, ok := unreadBytes(files[1]); !ok || n < taken {
				t.Errorf("%d bytes are unread (%t), %d were taken", n, ok, taken)
			}
			if got := flags(t, files[1]); got != before {
				t.Errorf("the flags changed from %o to %o", before, got)
			}
			files[1].Close()
			if all, err := io.ReadAll(files[0]); err != nil || len(all) != taken {
				t.Errorf("read %d of %d bytes: %v", len(all), taken, err)
			}
		})
	}
}

func TestTryWriteToAReaderThatHasGone(t *testing.T) {
	for name, files := range outputs(t) {
		t.Run(name, func(t *testing.T) {
			try := tryWriter(files[1])
			if readerGone(files[1]) {
				t.Error("the reader is said to be gone before it is")
			}
			files[0].Close()
			if n := try([]byte("x")); n != 0 {
				t.Errorf("%d bytes were taken", n)
			}
			if !readerGone(files[1]) {
				t.Error("the reader isn't said to be gone")
			}
		})
	}
}

func TestTryWriteIsNotForFiles(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if tryWriter(f) != nil {
		t.Error("a file is written by the writer")
	}
}

func TestTryWriteCostsNoAllocation(t *testing.T) {
	for name, files := range outputs(t) {
		t.Run(name, func(t *testing.T) {
			try := tryWriter(files[1])
			line, buf := []byte("pong\n"), make([]byte, 64)
			allocations := testing.AllocsPerRun(100, func() {
				try(line)
				files[0].Read(buf)
			})
			if allocations != 0 {
				t.Errorf("%v allocations", allocations)
			}
		})
	}
}

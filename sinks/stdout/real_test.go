//go:build unix

package stdout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"sluice/internal/wire"
)

// The two kinds of stdout that hosts give on Unix: shells and Python a pipe, Node a socket pair.
var realOutputs = map[string]func(t *testing.T) (r, w *os.File){
	"pipe": func(t *testing.T) (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	},
	"socket pair with tiny buffers": func(t *testing.T) (r, w *os.File) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			for _, option := range []int{unix.SO_SNDBUF, unix.SO_RCVBUF} {
				if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		return os.NewFile(uintptr(fds[0]), "reader"), os.NewFile(uintptr(fds[1]), "writer")
	},
}

// TestARealReaderThatStalls: everything is pushed, and answered to the producers, before the first
// byte is read; then all of it arrives.
func TestARealReaderThatStalls(t *testing.T) {
	for name, open := range realOutputs {
		t.Run(name, func(t *testing.T) {
			r, w := open(t)
			defer r.Close()
			s := New(w, Options{})
			go s.Run()
			const streams, chunks = 8, 5000
			var text strings.Builder
			for i := range streams {
				id := fmt.Sprint(i)
				l := s.Lane(wire.ID(id))
				text.Reset()
				for n := range chunks {
					word := fmt.Sprint("word", n, " ")
					text.WriteString(word)
					mustPut(t, l, chunk(id, n, word))
				}
				mustFinish(t, l, counted(id, chunks))
			}
			closed := make(chan error, 1)
			go func() {
				closed <- s.Close(context.Background(), 0)
				w.Close()
			}()
			output, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := <-closed; err != nil {
				t.Fatal(err)
			}
			got, last := map[string]string{}, map[string]line{}
			for _, l := range parse(t, output) {
				got[l.R] += l.D
				last[l.R] = l
			}
			for i := range streams {
				id := fmt.Sprint(i)
				d := last[id].Delivery
				if got[id] != text.String() || last[id].Kind != "final" || d.Dropped != 0 || d.Sent+d.Merged != chunks {
					t.Errorf("stream %s: %d of %d bytes, last %+v", id, len(got[id]), text.Len(), last[id])
				}
			}
		})
	}
}

// TestARealReaderThatLeaves: the write fails, and the process lives on without SIGPIPE's help.
func TestARealReaderThatLeaves(t *testing.T) {
	for name, open := range realOutputs {
		t.Run(name, func(t *testing.T) {
			r, w := open(t)
			defer w.Close()
			s := New(w, Options{})
			go s.Run()
			l := s.Lane("1")
			for n := range 5000 {
				mustPut(t, l, event("1", n, 100))
			}
			if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			r.Close()
			<-s.Gone()
			mustFinish(t, l, final("1", 5000))
			if err := s.Close(context.Background(), 0); err != nil {
				t.Error(err)
			}
			if _, err := w.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
				t.Errorf("the output's error was %v", err)
			}
		})
	}
}

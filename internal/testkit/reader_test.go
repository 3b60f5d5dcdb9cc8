//go:build unix

package testkit

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// ends are the two kinds of stdout that hosts give, for tests outside bubbles.
var ends = map[string]func(testing.TB, Pace) (io.WriteCloser, *Reader){
	"pipe":   func(t testing.TB, p Pace) (io.WriteCloser, *Reader) { return SlowPipe(t, p) },
	"socket": func(t testing.TB, p Pace) (io.WriteCloser, *Reader) { return SocketPair(t, p) },
	"memory": func(t testing.TB, p Pace) (io.WriteCloser, *Reader) { return MemoryPipe(t, p) },
}

func TestEverythingArrives(t *testing.T) {
	want := bytes.Repeat([]byte("a line of text\n"), 2000)
	for name, open := range ends {
		t.Run(name, func(t *testing.T) {
			w, r := open(t, Pace{Chunk: 100})
			go func() {
				_, _ = w.Write(want)
				_ = w.Close()
			}()
			if err := r.WaitLines(2000); err != nil {
				t.Error(err)
			}
			if got, err := r.All(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			if err := r.WaitLines(2001); !errors.Is(err, io.EOF) {
				t.Errorf("waiting for what never comes: %v", err)
			}
		})
	}
}

// TestStallIsFelt writes more than a small pipe holds to a paused reader.
func TestStallIsFelt(t *testing.T) {
	const much = 256 << 10
	for name, open := range ends {
		t.Run(name, func(t *testing.T) {
			w, r := open(t, Pace{Paused: true})
			written := make(chan error, 1)
			go func() {
				_, err := w.Write(make([]byte, much))
				written <- err
			}()
			r.Allow(1000)
			if err := r.Wait(func(text []byte) bool { return len(text) == 1000 }); err != nil {
				t.Error(err)
			}
			select {
			case <-written:
				t.Error("the write didn't feel the stall")
			default:
			}
			r.Resume()
			if err := r.Wait(func(text []byte) bool { return len(text) == much }); err != nil {
				t.Error(err)
			}
			if err := <-written; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCloseBreaksWrites(t *testing.T) {
	for name, open := range ends {
		t.Run(name, func(t *testing.T) {
			w, r := open(t, Pace{Paused: true})
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if _, err := w.Write(make([]byte, 256<<10)); err == nil {
				t.Error("a write to a reader that is gone succeeded")
			}
		})
	}
}

func TestPaceIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w, r := MemoryPipe(t, Pace{Chunk: 1, Delay: time.Second})
		_, _ = w.Write([]byte(strings.Repeat("x", 5)))
		if err := r.Wait(func(text []byte) bool { return len(text) == 5 }); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("five bytes, one a second, took %v", took)
		}
	})
}

func TestPauseAndAllow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := MemoryPipe(t, Pace{Paused: true, Chunk: 2})
		go func() { _, _ = w.Write([]byte("abcdefghij")) }()
		for _, step := range []struct {
			act  func()
			want string
		}{
			{func() {}, ""},
			{func() { r.Allow(3) }, "abc"},
			{func() { r.Allow(1) }, "abcd"},
			{r.Pause, "abcd"},
			{r.Resume, "abcdefghij"},
		} {
			step.act()
			synctest.Wait()
			if got := string(r.Bytes()); got != step.want {
				t.Errorf("got %q; want %q", got, step.want)
			}
		}
	})
}

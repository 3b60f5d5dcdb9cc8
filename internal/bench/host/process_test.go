package host

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test binary stand in for the programs that the tests start.
func TestMain(m *testing.M) {
	switch os.Getenv("BENCH_HOST_PROGRAM") {
	case "copy":
		io.Copy(os.Stdout, os.Stdin)
	case "fail":
		io.WriteString(os.Stderr, "nothing works")
		os.Exit(3)
	case "burn":
		for start := time.Now(); time.Since(start) < 20*time.Millisecond; {
		}
		io.WriteString(os.Stdout, "burnt\n")
		io.Copy(io.Discard, os.Stdin)
	default:
		goleak.VerifyTestMain(m)
	}
}

// collector keeps lines; full is closed once there are as many as wanted.
type collector struct {
	mu     sync.Mutex
	text   strings.Builder
	wanted int
	full   chan struct{}
}

func collect(wanted int) *collector { return &collector{wanted: wanted, full: make(chan struct{})} }

func (c *collector) ReadLines(block []byte, _ int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := strings.Count(c.text.String(), "\n")
	c.text.Write(block)
	if after := strings.Count(c.text.String(), "\n"); before < c.wanted && after >= c.wanted {
		close(c.full)
	}
}

func start(t *testing.T, program string, socketPair bool, lines LineReader) *Process {
	t.Helper()
	p, err := Start(context.Background(), Options{
		Path: os.Args[0], Env: []string{"BENCH_HOST_PROGRAM=" + program, "GORACE=atexit_sleep_ms=0"}, SocketPair: socketPair, Lines: lines,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestLinesComeBackWhole(t *testing.T) {
	long := strings.Repeat("x", 3*readBytes) + "\n"
	for _, socketPair := range []bool{false, true} {
		lines := collect(3)
		p := start(t, "copy", socketPair, lines)
		sent := "a\nb\n" + long
		if _, err := p.Write([]byte(sent)); err != nil {
			t.Fatal(err)
		}
		if err := p.Await(t.Context(), lines.full); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte("rest")); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if got := lines.text.String(); got != sent+"rest" {
			t.Errorf("socket pair %v: %d bytes came back, %d were sent", socketPair, len(got), len(sent)+4)
		}
	}
}

func TestListenHandsOverBetweenReaders(t *testing.T) {
	first, second := collect(1), collect(1)
	p := start(t, "copy", false, first)
	for _, lines := range []*collector{first, second} {
		p.Listen(lines)
		if _, err := p.Write([]byte("line\n")); err != nil {
			t.Fatal(err)
		}
		if err := p.Await(t.Context(), lines.full); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFailedProgramIsToldWithItsLog(t *testing.T) {
	p := start(t, "fail", false, collect(1))
	err := p.Await(t.Context(), make(chan struct{}))
	if !errors.Is(err, ErrEnded) {
		t.Errorf("Await: %v", err)
	}
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "nothing works") {
		t.Errorf("Close: %v", err)
	}
}

func TestKilledProgramEnds(t *testing.T) {
	p := start(t, "copy", false, collect(1))
	p.Kill()
	<-p.Exited() // else Close may end its input first, and it ends by itself
	if err := p.Close(); err == nil || strings.Contains(err.Error(), "stderr") {
		t.Errorf("Close, of a program that wrote nothing to stderr: %v", err)
	}
}

func TestMissingProgramIsAnError(t *testing.T) {
	if _, err := Start(t.Context(), Options{Path: "./no-such-program", Lines: collect(1)}); err == nil {
		t.Error("it started")
	}
}

func TestUsageGrowsWithWork(t *testing.T) {
	burnt := collect(1)
	p := start(t, "burn", false, burnt)
	before, err := p.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Await(t.Context(), burnt.full); err != nil {
		t.Fatal(err)
	}
	after, err := p.Usage()
	if err != nil || after.CPU <= before.CPU || after.PeakRSS < after.RSS || after.RSS < 1<<20 {
		t.Errorf("%+v after %+v, %v", after, before, err)
	}
}

func TestReaderThatGoesAwayEndsTheOutput(t *testing.T) {
	for _, socketPair := range []bool{false, true} {
		lines := collect(2)
		p := start(t, "copy", socketPair, lines)
		p.SetPace(&Closed{After: 4})
		// a read that waits already may take all that comes, and the next one then learns that it was enough
		if _, err := p.Write([]byte("1\n2\n3\n")); err != nil {
			t.Fatal(err)
		}
		if err := p.Await(t.Context(), p.Ended()); err != nil {
			t.Fatal(err)
		}
		if got := lines.text.String(); got != "1\n2\n" && got != "1\n2\n3\n" {
			t.Errorf("socket pair %v: %q was read", socketPair, got)
		}
		// the program learns it by a failed write and ends by itself
		for err := error(nil); err == nil; {
			_, err = p.Write([]byte("more\n"))
		}
		p.Kill()
	}
}

func TestAnotherPaceEndsTheWaitOfTheOld(t *testing.T) {
	lines := collect(2)
	p := start(t, "copy", false, lines)
	p.SetPace(&Stalled{For: time.Hour})
	if _, err := p.Write([]byte("1\n2\n")); err != nil {
		t.Fatal(err)
	}
	p.SetPace(nil)
	if err := p.Await(t.Context(), lines.full); err != nil {
		t.Fatal(err)
	}
}

// A program that ends at once is explained by what it said, not by what is missing of it.
func TestUsageOfADeadProgramTellsItsLastWords(t *testing.T) {
	p, err := Start(t.Context(), Options{Path: "/bin/sh", Args: []string{"-c", "echo out of order >&2; exit 3"}, Lines: collect(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	<-p.Exited()
	if _, err := p.Usage(); !errors.Is(err, ErrExited) || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("got %v", err)
	}
}

package observe

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/wire"
)

// header begins every execution trace, see internal/trace of the Go distribution: the version of the
// format, which is that of the Go it came with.
var header = regexp.MustCompile("^go 1\\.[0-9]+ trace\x00\x00\x00")

// TestTraceOfAStall: a stall is seen while it lasts, and once it has ended its line names the trace that
// was written then. The next stalls of the minute have none.
func TestTraceOfAStall(t *testing.T) {
	dir := t.TempDir()
	log, logger := logged(slog.LevelInfo)
	r, err := Record(dir, logger)
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int64
	began := time.Now()
	r.Watch(2*time.Millisecond, seen.Load)
	folder := filepath.Join(dir, traceFolder)
	seen.Store(1)
	await(t, "a trace", func() bool { return len(traces(t, folder)) == 1 })

	s := &Stalls{Logger: logger, Recorder: r}
	lines := make(chan string, 3)
	s.Add(wire.Stall{Cause: wire.CauseReader, Took: time.Since(began), Ended: time.Now()})
	for !r.explain(wire.Stall{Ended: time.Now().Add(time.Hour)}, func(trace string) { lines <- trace }) {
		await(t, "room", func() bool { return len(r.stalls) < cap(r.stalls) })
	}
	if trace := <-lines; trace != "" {
		t.Errorf("another stall of the minute has the trace %q", trace)
	}
	r.Close()
	path := filepath.Join(folder, traces(t, folder)[0])
	if got := log.String(); strings.Count(got, "\n") != 2 || strings.Count(got, "trace="+path) != 2 {
		t.Errorf("the log is %s", got)
	}
	text, err := os.ReadFile(path)
	if err != nil || !header.Match(text) {
		t.Errorf("no trace: %v, %.20q", err, text)
	}
	wantMode(t, path, 0o600)
	wantMode(t, folder, 0o700)
}

// TestTraceAtTheEnd: a stall that nobody saw while it lasted has its trace all the same.
func TestTraceAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	r, err := Record(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Watch(time.Hour, func() int64 { return 0 })
	lines := make(chan string, 1)
	r.explain(wire.Stall{Took: time.Second, Ended: time.Now()}, func(trace string) { lines <- trace })
	path := <-lines
	r.Close()
	if text, err := os.ReadFile(path); err != nil || !header.Match(text) {
		t.Errorf("no trace: %v, %.20q", err, text)
	}
}

// TestTracesAreFew: one a minute, ten in all, of all engines that share the folder.
func TestTracesAreFew(t *testing.T) {
	dir := t.TempDir()
	r, err := Record(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range 12 {
		name := fmt.Sprintf("20200101T0000%02d.000-1.trace", i)
		if err := os.WriteFile(filepath.Join(r.folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.folder, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for _, after := range []time.Duration{0, time.Second, traceInterval - 1, traceInterval} {
		r.write(start.Add(after))
	}
	got := traces(t, r.folder)
	if len(got) != tracesKept || got[0] != "20200101T000004.000-1.trace" || !strings.HasPrefix(got[8], start.UTC().Format("20060102T")) {
		t.Errorf("left are %q", got)
	}
	if count(t, r.folder) != tracesKept+1 {
		t.Error("something else was removed")
	}
}

// TestTraceThatCantBeWritten is tried once a minute too, and told then.
func TestTraceThatCantBeWritten(t *testing.T) {
	log, logger := logged(slog.LevelInfo)
	r, err := Record(t.TempDir(), logger)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Remove(r.folder); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for _, after := range []time.Duration{0, time.Second, traceInterval - 1, traceInterval} {
		r.write(start.Add(after))
	}
	if got := log.String(); strings.Count(got, "could not be written") != 2 {
		t.Errorf("the log is %s", got)
	}
}

// TestRecorderThatIsFull says so, and one that ends logs what waits.
func TestRecorderThatIsFull(t *testing.T) {
	r, err := Record(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for range stallsWaiting {
		if !r.explain(wire.Stall{}, func(string) { told++ }) {
			t.Fatal("it is full too early")
		}
	}
	log, logger := logged(slog.LevelInfo)
	s := &Stalls{Logger: logger, Recorder: r}
	s.Add(wire.Stall{Cause: wire.CauseReader})
	if !strings.Contains(log.String(), "STDIO_WRITER_STALL") {
		t.Errorf("the log is %q", log)
	}
	r.Close()
	if told != stallsWaiting {
		t.Errorf("%d of %d were told", told, stallsWaiting)
	}
}

func TestRecorderWithoutAPlace(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", blocked} {
		if _, err := Record(dir, nil); err == nil || !strings.Contains(err.Error(), "app.data_dir") {
			t.Errorf("%q: got %v", dir, err)
		}
	}
}

func traces(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".trace") {
			names = append(names, entry.Name())
		}
	}
	return names
}

// await waits for a condition of the world outside.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.After(time.Minute); !condition(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}

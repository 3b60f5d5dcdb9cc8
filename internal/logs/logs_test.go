package logs

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// logged returns what the records of use look like with the options.
func logged(o Options, use func(*slog.Logger)) string {
	var out bytes.Buffer
	logger, writer := New(&out, o)
	use(logger)
	writer.Close(time.Minute)
	return out.String()
}

func TestLevels(t *testing.T) {
	all := func(l *slog.Logger) { l.Debug("d"); l.Info("i"); l.Warn("w"); l.Error("e") }
	for level, want := range map[string]int{"debug": 4, "info": 3, "": 3, "warn": 2, "error": 1, "unknown": 3} {
		if got := strings.Count(logged(Options{Level: level}, all), "\n"); got != want {
			t.Errorf("%q: got %d lines, want %d", level, got, want)
		}
	}
}

func TestFormats(t *testing.T) {
	one := func(l *slog.Logger) { l.With("a", 1).Info("two\nlines", "b", "c d") }
	if text := logged(Options{}, one); !strings.Contains(text, ` level=INFO msg="two\nlines" a=1 b="c d"`) || strings.Count(text, "\n") != 1 {
		t.Errorf("text: %q", text)
	}
	var record struct {
		Level, Msg, B string
		A             int
	}
	if err := json.Unmarshal([]byte(logged(Options{Format: "json"}, one)), &record); err != nil || record.Msg != "two\nlines" || record.A != 1 {
		t.Errorf("json: %+v, %v", record, err)
	}
}

func TestLossLineHasTheFormat(t *testing.T) {
	for format, want := range map[string]string{
		"text": `level=ERROR msg="log lines lost: stderr was not read" lost=7`,
		"json": `"level":"ERROR","msg":"log lines lost: stderr was not read","lost":7}`,
	} {
		var out bytes.Buffer
		_, writer := New(&out, Options{Level: "error", Format: format})
		writer.mu.Lock()
		writer.loseLocked([]byte(strings.Repeat("x\n", 7)))
		writer.wake.Signal()
		writer.mu.Unlock()
		writer.Close(time.Minute)
		if text := out.String(); !strings.HasSuffix(text, want+"\n") || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %q", format, text)
		}
	}
}

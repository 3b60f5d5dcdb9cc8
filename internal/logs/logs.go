package logs

import (
	"io"
	"log/slog"
	"strings"
)

// Options says what is logged and how. The zero value logs text from level info on.
type Options struct {
	Level  string // debug, info, warn or error; empty is info
	Format string // text or json; empty is text
}

// New returns a logger whose records are written to w by a goroutine of its own, and the Writer in
// between, which the caller closes. Unknown levels and formats count as the defaults; the
// configuration has refused them before.
func New(w io.Writer, o Options) (*slog.Logger, *Writer) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.Level)); err != nil {
		level = slog.LevelInfo
	}
	handlerOptions := &slog.HandlerOptions{Level: level}
	newHandler := func(w io.Writer) slog.Handler {
		if strings.EqualFold(o.Format, "json") {
			return slog.NewJSONHandler(w, handlerOptions)
		}
		return slog.NewTextHandler(w, handlerOptions)
	}
	writer := NewWriter(w, func(lost int64) []byte { return lossLine(newHandler, lost) })
	return slog.New(newHandler(writer)), writer
}

// lossLine renders the record that tells how many lines are missing, in the format of the others.
func lossLine(newHandler func(io.Writer) slog.Handler, lost int64) []byte {
	var line strings.Builder
	logger := slog.New(newHandler(&line))
	logger.Error("log lines lost: stderr was not read", "lost", lost)
	return []byte(line.String())
}

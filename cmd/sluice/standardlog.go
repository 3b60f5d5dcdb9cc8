package main

import (
	"log"
	"log/slog"
)

// takeStandardLog gives what the standard library logs by itself to our logger, at debug: net/http
// does when a server misbehaves. It would go to stderr directly, in a format of its own, and wait
// there when nobody reads. release undoes it.
func takeStandardLog(to *slog.Logger) (release func()) {
	output, flags := log.Writer(), log.Flags()
	log.SetOutput(slog.NewLogLogger(to.Handler(), slog.LevelDebug).Writer())
	log.SetFlags(0)
	return func() {
		log.SetOutput(output)
		log.SetFlags(flags)
	}
}

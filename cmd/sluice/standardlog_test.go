package main

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"
)

func TestStandardLogIsOurs(t *testing.T) {
	var direct bytes.Buffer
	before := log.Writer()
	log.SetOutput(&direct)
	defer log.SetOutput(before)
	for level, want := range map[slog.Level]string{slog.LevelDebug: `level=DEBUG msg="a server misbehaved"`, slog.LevelInfo: ""} {
		var ours bytes.Buffer
		release := takeStandardLog(slog.New(slog.NewTextHandler(&ours, &slog.HandlerOptions{Level: level})))
		log.Print("a server misbehaved")
		release()
		if got := strings.TrimSpace(ours.String()); !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("at %v our log has %q, want %q", level, got, want)
		}
	}
	if direct.Len() > 0 {
		t.Errorf("the standard log got %q", direct.String())
	}
	log.Print("afterwards")
	if !strings.HasSuffix(direct.String(), " afterwards\n") {
		t.Errorf("after release the standard log got %q", direct.String())
	}
}

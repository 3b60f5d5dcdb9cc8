package top

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// dataFolder makes a data folder whose run folder holds files of these names and contents.
func dataFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, runFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, runFolder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func runFile(pid int, address string, started time.Time) string {
	text, _ := json.Marshal(Engine{pid, address, started, "0.1.0"})
	return string(text)
}

// anyTime is when engines of tests began.
var anyTime = time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)

func TestFindWithoutEngines(t *testing.T) {
	for name, folder := range map[string]string{"no folder": filepath.Join(t.TempDir(), "none"), "empty": dataFolder(t, nil)} {
		if found, err := Find(t.Context(), folder, ""); len(found) != 0 || err != nil {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

func TestFindKeepsThoseThatLive(t *testing.T) {
	own := os.Getpid()
	live, locked, other := newFakeEngine(t), newFakeEngine(t), newFakeEngine(t)
	live.pid, locked.token, other.pid = own, "swordfish", own+1
	folder := dataFolder(t, map[string]string{
		"1.json":       runFile(own, live.address, anyTime),
		"2.json":       runFile(own, locked.address, anyTime.Add(time.Hour)),
		"3.json":       runFile(own, other.address, anyTime), // the port has another owner by now
		"4.json":       runFile(own, nobody(t), anyTime),
		"5.json":       `{"pid":`,
		"6.json":       runFile(own, "nowhere", anyTime),
		"7.json":       runFile(0, live.address, anyTime),
		"8.json.new":   runFile(own, live.address, anyTime),
		"\x1b[2J.json": "[]",
	})
	found, err := Find(t.Context(), folder, "")
	if err != nil || len(found) != 2 || found[0].Address != locked.address || found[1].Address != live.address || found[1].Version != "0.1.0" {
		t.Errorf("found %+v, %v", found, err)
	}
}

// The port of an engine that was killed may be another user's by now.
func TestFindTellsNoStrangerTheToken(t *testing.T) {
	const never = 1 << 30 // above every system's largest process number
	stranger := newFakeEngine(t)
	stranger.pid = never
	folder := dataFolder(t, map[string]string{"1.json": runFile(never, stranger.address, anyTime)})
	if found, err := Find(t.Context(), folder, "swordfish"); len(found) != 0 || err != nil || len(stranger.tokens) != 0 {
		t.Errorf("found %v, %v; the stranger was told %q", found, err, stranger.tokens)
	}
}

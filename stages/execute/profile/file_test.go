package profile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// damages are files that nobody can use, and what a message must say of them.
var damages = map[string]string{
	"":                                    "no JSON object",
	"nonsense":                            "line 1",
	"{\n\"version\":1,\n\"SECRET\":}":     "line 3",
	"[]":                                  "no JSON object",
	"null":                                "no JSON object",
	`{"version":1}{"version":1}`:          "no JSON object",
	`{"version":"1"}`:                     "version",
	`{"version":0}`:                       "version",
	`{"version":1,"profiles":[]}`:         "profiles",
	`{"version":1,"profiles":{"a":5}}`:    "profiles",
	`{"version":1,"currentProfile":{}}`:   "currentProfile",
	`{"version":1,"localTools":"SECRET"}`: "localTools",
	"{\"a\":\"\xff\"}":                    "UTF-8",

	strings.Repeat(" ", largestFile) + "{}": "larger than 1 MiB",
}

func TestDamagedFileIsKeptAside(t *testing.T) {
	for text, says := range damages {
		w := newWorld(t)
		w.write(text)
		p := w.engine()
		yes := true
		for name, call := range map[string]func() error{
			"list":      func() error { _, err := p.List(); return err },
			"use":       func() error { _, err := p.Use(nothing, "corp"); return err },
			"status":    func() error { _, err := status(p, ""); return err },
			"tools":     func() error { _, err := p.LocalTools(); return err },
			"configure": func() error { _, err := p.Configure(nothing, wire.LocalToolsChange{Enabled: &yes}); return err },
		} {
			err := call()
			wantCode(t, err, wire.CodeConfigInvalid)
			if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s of %q: %v, want a word on %q", name, text, err, says)
			}
		}
		if w.file() != text || len(w.others()) > 0 {
			t.Errorf("%q was touched by a reader: %q, %v", text, w.file(), w.others())
		}
		w.set(p, "corp", server)
		wantList(t, p, wire.Profile{Name: "corp", ServerURL: server, Current: true})
		others := w.others()
		if len(others) != 1 {
			t.Fatalf("beside the new file stand %v", others)
		}
		if kept, err := os.ReadFile(filepath.Join(w.dir, others[0])); err != nil || string(kept) != text {
			t.Errorf("%q was kept as %q, %v", text, kept, err)
		}
	}
}

func TestFilesThatAreNotOurs(t *testing.T) {
	for text, says := range map[string]string{
		`{"version":2,"profiles":[]}`: "profiles", // as damaged as of any version
		`{"version":2,"new":true}`:    "newer",
	} {
		w := newWorld(t)
		w.write(text)
		p := w.engine()
		_, err := p.List()
		wantCode(t, err, wire.CodeConfigInvalid)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("List = %v, want a word on %q", err, says)
		}
		if says == "profiles" {
			continue
		}
		_, err = p.Set(nothing, "corp", server, nil)
		wantCode(t, err, wire.CodeConfigInvalid)
		if w.file() != text || len(w.others()) > 0 {
			t.Errorf("a file of another was touched: %v", w.others())
		}
	}
	w := newWorld(t)
	if err := os.MkdirAll(filepath.Join(w.dir, fileName), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := w.engine().Set(nothing, "corp", server, nil)
	wantCode(t, err, wire.CodeConfigInvalid)
}

func TestFileThatWouldBecomeTooLarge(t *testing.T) {
	w := newWorld(t)
	text := `{"version":1,"x":"` + strings.Repeat("x", largestFile-100) + `"}`
	w.write(text)
	_, err := w.engine().Set(nothing, "corp", server, nil)
	wantCode(t, err, wire.CodeConfigInvalid)
	if err == nil || !strings.Contains(err.Error(), "would become larger") || w.file() != text || len(w.others()) > 0 {
		t.Errorf("Set = %v, beside the file stand %v", err, w.others())
	}
}

func TestFolderThatCannotBeMade(t *testing.T) {
	w := newWorld(t)
	w.dir = filepath.Join(w.t.TempDir(), "file")
	if err := os.WriteFile(w.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.dir = filepath.Join(w.dir, "below")
	_, err := w.engine().Set(nothing, "corp", server, nil)
	wantCode(t, err, wire.CodeConfigInvalid)
}

func TestLeftoversAreSwept(t *testing.T) {
	w := newWorld(t)
	w.write(`{"version":1,"profiles":{}}`)
	for _, name := range []string{"config.json.1234.tmp", "config.json.mine", "other.tmp"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.set(w.engine(), "corp", server)
	if got := fmt.Sprint(w.others()); got != "[config.json.mine other.tmp]" {
		t.Errorf("beside the file stand %v", got)
	}
}

func TestUnchangedFileIsNotWritten(t *testing.T) {
	w := newWorld(t)
	w.write(`{"version":1,"currentProfile":"corp","profiles":{"corp":{"serverUrl":"` + server + `"}}}`)
	p, before := w.engine(), w.file()
	w.set(p, "corp", server)
	if _, err := p.Use(nothing, "corp"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Configure(nothing, wire.LocalToolsChange{}); err != nil {
		t.Fatal(err)
	}
	if w.file() != before {
		t.Errorf("the file became %s", w.file())
	}
}

func TestWaitForAnotherEngineEndsWithTheCaller(t *testing.T) {
	w := newWorld(t)
	w.write(`{}`)
	locked, err := lockFile(nothing, filepath.Join(w.dir, fileName+".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer locked.Close()
	ctx, cancel := context.WithCancel(nothing)
	cancel()
	if _, err := w.engine().Set(ctx, "corp", server, nil); err != context.Canceled {
		t.Errorf("Set = %v, want that it was cancelled", err)
	}
}

func FuzzParse(f *testing.F) {
	for text := range damages {
		if len(text) > largestFile {
			continue // which would only slow the fuzzer down
		}
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"version":1,"currentProfile":"a","profiles":{"a":{"serverUrl":"https://a","x":1e5}},"localTools":{"timeoutMs":5},"more":[null]}`))
	f.Add([]byte("\ufeff{\"profiles\":null,\"localTools\":null}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parse(text)
		if err != nil {
			return
		}
		d.put("new", server)
		d.configure(wire.LocalToolsChange{AllowedRoots: []string{}})
		written := d.encode()
		again, err := parse(written)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, written, err)
		}
		if !bytes.Equal(again.encode(), written) || len(again.profiles) != len(d.profiles) || again.current != d.current {
			t.Errorf("%q was read as %q", written, again.encode())
		}
	})
}

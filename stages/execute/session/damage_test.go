package session

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// filled makes a folder with turns of some sessions in a closed file, and returns the file's path.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	store := New(Options{Dir: dir})
	for _, name := range []string{"s", "t"} {
		s := open(t, store, "u", name)
		for range 20 {
			say(t, s, "question", strings.Repeat("an answer ", 500))
		}
		s.Close()
	}
	closeStore(t, store)
	return filepath.Join(dir, fileName)
}

// change rewrites a file's bytes.
func change(t *testing.T, name string, with func(content []byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, with(content), 0o600))
}

func fillWith(content []byte, from, to int, value func() byte) []byte {
	for i := from; i < to; i++ {
		content[i] = value()
	}
	return content
}

func zero() byte { return 0 }

// damages are what is done to a file that was closed.
var damages = map[string]func(content []byte) []byte{
	"no database":   func([]byte) []byte { return []byte("this is a text that somebody put here\n") },
	"random bytes":  func(c []byte) []byte { return fillWith(c, 0, len(c), random()) },
	"zero length":   func([]byte) []byte { return nil },
	"truncated":     func(c []byte) []byte { return c[:len(c)/2] },
	"cut in page":   func(c []byte) []byte { return c[:5000] },
	"header only":   func(c []byte) []byte { return c[:100] },
	"zeroed head":   func(c []byte) []byte { return fillWith(c, 0, pageSize, zero) },
	"zeroed pages":  func(c []byte) []byte { return fillWith(c, pageSize, len(c), zero) },
	"random pages":  func(c []byte) []byte { return fillWith(c, pageSize, len(c), random()) },
	"random middle": func(c []byte) []byte { return fillWith(c, len(c)/5, len(c)*4/5, random()) },
}

// metLater are those that are met after something was written.
var metLater = map[string]bool{"zeroed pages": true, "random middle": true}

func random() func() byte {
	source := rand.NewChaCha8([32]byte{1})
	return func() byte { return byte(source.Uint64()) }
}

// aside returns the files that were set aside, but for their companions.
func aside(dir string) (files []string) {
	for _, name := range named(dir, damagedName) {
		if !strings.HasSuffix(name, "-shm") {
			files = append(files, name)
		}
	}
	return files
}

func TestADamagedFileIsSetAside(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			change(t, path, damage)
			found, err := os.ReadFile(path)
			must(t, err)
			store := newStore(t, Options{Dir: filepath.Dir(path)})
			s := open(t, store, "u", "s")
			if got := history(t, s); len(got) != 0 {
				t.Errorf("%d turns of a damaged file", len(got))
			}
			say(t, s, "goes on", "yes")
			files := aside(filepath.Dir(path))
			if len(files) != 1 {
				t.Fatalf("set aside: %q", files)
			}
			if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], files[0]) || !strings.Contains(w[0], path) {
				t.Errorf("warnings %q", w)
			}
			if kept, err := os.ReadFile(files[0]); err != nil || !metLater[name] && !bytes.Equal(kept, found) {
				t.Errorf("what was set aside is not what there was: %d bytes, %v", len(kept), err)
			}
			s.Close()
			s = open(t, store, "u", "s")
			defer s.Close()
			noWarnings(t, s) // told once
			if got := inputs(history(t, s)); got != "goes on" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestADamagedLogIsSetAside(t *testing.T) {
	for name, garbage := range map[string]string{"short": "xx", "long": strings.Repeat("garbage ", 1000)} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			must(t, os.WriteFile(path+"-wal", []byte(garbage), 0o600))
			s := open(t, newStore(t, Options{Dir: filepath.Dir(path)}), "u", "s")
			defer s.Close()
			if got := history(t, s); len(got) != 20 {
				t.Errorf("%d turns", len(got))
			}
			files := aside(filepath.Dir(path))
			if w := s.Warnings(); len(files) != 1 || len(w) != 1 || !strings.Contains(w[0], files[0]) {
				t.Fatalf("set aside %q, warnings %q", files, w)
			}
			if kept, err := os.ReadFile(files[0]); err != nil || string(kept) != garbage {
				t.Errorf("got %d bytes, %v", len(kept), err)
			}
		})
	}
}

// With another engine at work the log can't be taken from under it: all is set aside, and both go on.
func TestADamagedLogOfAFileInUse(t *testing.T) {
	dir := t.TempDir()
	a, b := newStore(t, Options{Dir: dir}), newStore(t, Options{Dir: dir})
	inA := open(t, a, "u", "a")
	say(t, inA, "lost", "with the file")
	must(t, os.Rename(filepath.Join(dir, fileName+"-wal"), filepath.Join(dir, "away")))
	must(t, os.WriteFile(filepath.Join(dir, fileName+"-wal"), []byte("garbage"), 0o600))
	inB := open(t, b, "u", "b")
	say(t, inB, "b", "yes")
	say(t, inA, "a", "yes")
	for _, s := range []*Session{inA, inB} {
		if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], damagedName) {
			t.Errorf("warnings %q", w)
		}
		if got := inputs(history(t, s)); got != s.session {
			t.Errorf("got %q", got)
		}
		s.Close()
	}
}

// The index of the log is made anew by whoever opens the file first, whatever is in it.
func TestADamagedIndexOfTheLogIsMadeAnew(t *testing.T) {
	path := filled(t)
	must(t, os.WriteFile(path+"-shm", bytes.Repeat([]byte("garbage "), 4096), 0o600))
	s := open(t, newStore(t, Options{Dir: filepath.Dir(path)}), "u", "s")
	defer s.Close()
	noWarnings(t, s)
	if got := history(t, s); len(got) != 20 {
		t.Errorf("%d turns", len(got))
	}
}

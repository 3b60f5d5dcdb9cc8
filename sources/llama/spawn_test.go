//go:build unix

package llama

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/internal/wire"
)

func TestOneStartServesAllWhoWait(t *testing.T) {
	f := fake{Gated: true}
	o := f.options(t)
	o.CtxSize, o.Parallel, o.GPULayers, o.Args = 512, 3, "7", []string{"--threads", "2"}
	t.Setenv("SLUICE_LOG_LEVEL", "debug")
	t.Setenv("LLAMA_ARG_PORT", "1")
	t.Setenv(envKey, "theirs")
	var log strings.Builder
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := newServer(t, o)
	if len(f.pids()) != 0 {
		t.Error("started before the first chat")
	}
	var all sync.WaitGroup
	loading := make(chan struct{}, 8)
	for range 8 {
		all.Go(func() {
			lease, err := s.Acquire(t.Context(), func(phase Phase) {
				if phase == PhaseModelLoad {
					loading <- struct{}{}
				}
			})
			if err != nil {
				t.Error(err)
				return
			}
			if lease.Load <= 0 {
				t.Error("the wait for the start was not counted")
			}
			lease.Release()
		})
	}
	for range 8 {
		<-loading
	}
	note(f.Folder, "loaded", "")
	all.Wait()
	if n := len(f.pids()); n != 1 {
		t.Errorf("%d starts", n)
	}
	checkArguments(t, f, o)
	folder := filepath.Dir(socketOf(t, f))
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's folder: %v %v", info, err)
	}
	_ = s.Close(t.Context())
	if _, err := os.Stat(folder); err == nil {
		t.Error("the socket's folder is left")
	}
	if runs(f.pids()[0]) {
		t.Error("the server outlived Close")
	}
	_, err := s.Acquire(t.Context(), nil)
	wantFault(t, err, wire.CodeInternal, "stopping")
	if !strings.Contains(log.String(), "server="+o.Binary) {
		t.Errorf("the log doesn't name what runs: %s", log.String())
	}
}

func socketOf(t *testing.T, f fake) string {
	argv, err := os.ReadFile(filepath.Join(f.Folder, "argv"))
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(string(argv), "\n")
	return args[slices.Index(args, "--host")+1]
}

func checkArguments(t *testing.T, f fake, o ServerOptions) {
	t.Helper()
	argv, _ := os.ReadFile(filepath.Join(f.Folder, "argv"))
	want := []string{"-m", o.ModelPath, "--host", socketOf(t, f), "--parallel", "3", "-c", "1536", "-ngl", "7", "--threads", "2"}
	if got := strings.Split(string(argv), "\n"); !slices.Equal(got, want) {
		t.Errorf("argv %q, want %q", got, want)
	}
	env, _ := os.ReadFile(filepath.Join(f.Folder, "env"))
	for _, entry := range strings.Split(string(env), "\n") {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "SLUICE_") || strings.HasPrefix(name, "LLAMA_ARG_") {
			t.Errorf("%s was handed on", name)
		}
		if name == envKey && len(value) != 64 {
			t.Errorf("the key is %q", value)
		}
	}
}

func TestWhatIsNotOursIsRefused(t *testing.T) {
	for name, f := range map[string]fake{"takes any key": {AnyKey: true}, "has another key": {DropKey: true}} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, f.options(t))
			_, err := s.Acquire(t.Context(), nil)
			wantFault(t, err, wire.CodeInternal, "not the llama-server", envKey)
			if runs(f.pids()[0]) {
				t.Error("the server is left")
			}
		})
	}
}

func TestMissingThings(t *testing.T) {
	var f fake
	good := f.options(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	text, empty := filepath.Join(f.Folder, "text"), filepath.Join(f.Folder, "empty")
	note(f.Folder, "text", "no model")
	note(f.Folder, "empty", "")
	script := filepath.Join(f.Folder, "script")
	if err := os.WriteFile(script, []byte("#!/nonexistent/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		binary, model string
		code          wire.Code
		word          string
	}{
		"no such path":        {"/nonexistent/llama-server", good.ModelPath, wire.CodeBinaryMissing, "/nonexistent/llama-server"},
		"not on PATH":         {"no-such-llama-server", good.ModelPath, wire.CodeBinaryMissing, "PATH"},
		"not executable":      {text, good.ModelPath, wire.CodeBinaryMissing, "executable"},
		"a folder":            {f.Folder, good.ModelPath, wire.CodeBinaryMissing, "executable"},
		"no interpreter":      {script, good.ModelPath, wire.CodeBinaryMissing, script},
		"no such model":       {good.Binary, "/nonexistent.gguf", wire.CodeModelMissing, "/nonexistent.gguf"},
		"no model":            {good.Binary, "", wire.CodeModelMissing, "path"},
		"a model's folder":    {good.Binary, f.Folder, wire.CodeModelMissing, "not a file"},
		"no GGUF":             {good.Binary, text, wire.CodeModelMissing, "GGUF"},
		"empty":               {good.Binary, empty, wire.CodeModelMissing, "GGUF"},
		"the binary is first": {"no-such-llama-server", "/nonexistent.gguf", wire.CodeBinaryMissing, "PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, ServerOptions{Binary: c.binary, ModelPath: c.model})
			for range 2 {
				wantFault(t, s.Warm(t.Context(), nil), c.code, c.word)
			}
			if s.delay != 0 {
				t.Error("a missing thing makes the next start wait")
			}
			if left, _ := os.ReadDir(temporary); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestWhoGivesUpWhileItStartsReturns(t *testing.T) {
	f := fake{Gated: true}
	s := newServer(t, f.options(t))
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := fmt.Errorf("given up")
	_, err := s.Acquire(ctx, func(phase Phase) {
		if phase == PhaseModelLoad {
			cancel(reason)
		}
	})
	if err != reason {
		t.Errorf("got %v", err)
	}
	note(f.Folder, "loaded", "")
	acquire(t, s).Release()
	if n := len(f.pids()); n != 1 {
		t.Errorf("%d starts", n)
	}
}

func TestASpawnedServersSlotsAreItsLimit(t *testing.T) {
	for _, c := range []struct{ slots, parallel, want int }{{2, 0, 2}, {4, 3, 3}, {2, 8, 2}} {
		f := fake{Slots: c.slots}
		o := f.options(t)
		o.Parallel = c.parallel
		s := newServer(t, o)
		lease := acquire(t, s)
		if got := lease.instance.capacity; got != c.want || lease.ContextSize() != 1024 {
			t.Errorf("%+v: got %d, context %d", c, got, lease.ContextSize())
		}
		if _, ok := lease.Idle(t.Context()); !ok {
			t.Error("idle slots were not seen")
		}
		lease.Release()
	}
}

// The guardian, which removes the folder after us, works in another directory.
func TestPlacesAreAbsoluteAndShort(t *testing.T) {
	t.Chdir(t.TempDir())
	for temporary, want := range map[string]string{"": "/tmp", "/nonexistent": "/nonexistent", strings.Repeat("/long", 20): "/tmp", ".": "", "..": ""} {
		t.Setenv("TMPDIR", temporary)
		found, err := places()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			if socket := p.args[1]; len(socket) > longestSocketPath || !filepath.IsAbs(socket) || filepath.Dir(socket) != p.folder {
				t.Errorf("TMPDIR=%s: socket %s", temporary, socket)
			}
		}
		if parent := filepath.Dir(found[0].folder); want != "" && parent != want {
			t.Errorf("TMPDIR=%s: in %s, want %s", temporary, parent, want)
		}
	}
}

func TestAnUnusableTemporaryFolderIsAvoided(t *testing.T) {
	f := fake{}
	o := f.options(t)
	t.Setenv("TMPDIR", "/nonexistent")
	acquire(t, newServer(t, o)).Release()
	if socket := socketOf(t, f); !strings.HasPrefix(socket, "/tmp/") {
		t.Errorf("socket %s", socket)
	}
}

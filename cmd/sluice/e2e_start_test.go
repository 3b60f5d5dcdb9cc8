//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

// A broken configuration ends the engine while its stdin is still open: nothing was read.
func TestBrokenConfiguration(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		env    []string
		words  []string
	}{
		"unknown key":    {"llama_server:\n  urll: x\n", nil, []string{"config.yaml", "2", "urll"}},
		"wrong type":     {"app: {max_parallel_chats: many}\n", nil, []string{"config.yaml", "1", "max_parallel_chats"}},
		"no YAML":        {"app: [\n", nil, []string{"config.yaml"}},
		"variable":       {"", []string{"SLUICE_OUTPUT_PENDING_BYTES=much"}, []string{"SLUICE_OUTPUT_PENDING_BYTES"}},
		"secret":         {"llama_server: {api_key: [hunter2]}\n", nil, []string{"api_key"}},
		"refused option": {"llama_server: {args: [--port, '1']}\n", nil, []string{"--port"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := spawn(t, c.config, host.Options{Env: c.env})
			wantExit(t, e, 2)
			if len(e.Messages()) != 0 || e.Taken() != 0 {
				t.Error("something stands on stdout")
			}
			log := e.Log()
			if strings.Count(log, "\n") != 1 || strings.Contains(log, "hunter2") {
				t.Errorf("stderr is %q", log)
			}
			for _, word := range c.words {
				if !strings.Contains(log, word) {
					t.Errorf("stderr does not name %q: %q", word, log)
				}
			}
		})
	}
}

func TestUnknownVariableIsWarnedAbout(t *testing.T) {
	t.Parallel()
	e := spawn(t, "", host.Options{Env: []string{"SLUICE_OUTPUT_ON_FUL=drop"}})
	wantAlive(t, e)
	e.CloseStdin()
	wantExit(t, e, 0)
	if !strings.Contains(e.Log(), "SLUICE_OUTPUT_ON_FUL") {
		t.Errorf("the log is %q", e.Log())
	}
}

func TestMissingConfigurationIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := host.Start(t, host.Options{Path: built(t), Dir: dir, Args: []string{"serve-stdio", "--config", "there.yaml"}})
	wantAlive(t, e)
	e.Chat("c", "hi")
	e.Error("c", "config_missing", "there.yaml", "--demo")
	e.Send("w", "warmup", nil)
	e.Error("w", "config_missing", "there.yaml")
	e.CloseStdin()
	wantExit(t, e, 0)
}

func TestOtherName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "local-ai")
	if err := os.Symlink(built(t), link); err != nil {
		t.Fatal(err)
	}
	e := host.Start(t, host.Options{Path: link, Dir: dir, Args: []string{"serve-stdio", "--demo"}})
	e.Chat("c", "What is a pipe?")
	if got := e.Result("c").Get("response").String(); got == "" || got != e.Text("c") {
		t.Errorf("the response is %q, the chunks are %q", got, e.Text("c"))
	}
	e.CloseStdin()
	wantExit(t, e, 0)
}

// The standard streams may be closed, by the host or before the program starts.
func TestStreamsClosedFromTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		options host.Options
		shell   string
	}{
		"stdin ended":      {host.Options{Stdin: host.Closed}, ""},
		"stdin no file":    {host.Options{Stdin: host.Absent}, "<&-"},
		"stdin null":       {host.Options{Stdin: host.Absent}, ""},
		"stdout gone":      {host.Options{Stdout: host.Closed}, ""},
		"stdout no file":   {host.Options{Stdout: host.Absent}, ">&-"},
		"stdout null":      {host.Options{Stdout: host.Absent}, ""},
		"stderr gone":      {host.Options{Stderr: host.Closed}, ""},
		"stderr no file":   {host.Options{Stderr: host.Absent}, "2>&-"},
		"all without file": {host.Options{Stdin: host.Absent, Stdout: host.Absent, Stderr: host.Absent}, "<&- >&- 2>&-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakellama.Start(t, fakellama.Options{})
			o := c.options
			o.Path, o.Args = "/bin/sh", []string{"-c", `exec "$0" "$@" ` + c.shell, built(t), "serve-stdio"}
			e := spawn(t, "llama_server: {url: '"+server.URL+"'}\nlog: {level: debug}\n", o)
			if o.Stdin == host.Used {
				e.Chat("c", "n=50")
				server.WaitAnswers(1)
				e.CloseStdin()
			}
			wantExit(t, e, 0)
			if o.Stdin == host.Used && o.Stdout == host.Used {
				wantWhole(t, e, "c", fakellama.Text("n=50"))
			}
		})
	}
}

// Logging every dropped event fills any pipe; nobody reads it, and nothing waits for that.
func TestUnreadStderrStallsNothing(t *testing.T) {
	for name, stderr := range map[string]host.Stream{"unread": host.Unread, "closed": host.Closed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := "log: {level: debug}\noutput: {on_full: drop, queue_frames: 8}\n"
			e, server := attached(t, config, host.Options{Small: true, Pace: paused, Stderr: stderr})
			e.Chat("c", "n=5000")
			server.WaitAnswers(1)
			e.Resume()
			result := e.Result("c")
			if result.Get("events.dropped").Int() < 2000 || result.Get("response").String() != fakellama.Text("n=5000") {
				t.Errorf("the result is %.300s", result.Raw)
			}
			e.CloseStdin()
			wantExit(t, e, 0)
		})
	}
}

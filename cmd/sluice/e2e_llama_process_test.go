//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/testkit/host"
)

func TestRealServerKilledInMidStream(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	e := r.start(endless, one, host.Options{})
	e.Chat("c", "Tell me of streams.")
	e.Event("c", "llm_chunk")
	kill(t, r.pids()[0])
	final := e.Error("c", "internal_error", "killed")
	if text := final.Get("data.response").String(); text == "" || text != e.Text("c") {
		t.Errorf("the partial response is %.100q, the chunks are %.100q", text, e.Text("c"))
	}
	e.Chat("d", "Tell me of streams.")
	e.Event("d", "llm_chunk")
	if pids := r.pids(); len(pids) != 2 || !runs(pids[1]) {
		t.Errorf("servers were started: %v", pids)
	}
}

// wrappers are how people start their servers. "busy" stands for whatever else a script leaves behind;
// it has the folder's path among its arguments.
var wrappers = map[string]string{
	"exec":       recorded,
	"no exec":    strings.Replace(recorded, "exec SERVER", "SERVER", 1) + "exit $?\n",
	"background": strings.Replace(recorded, "exec SERVER", "sh DIR/busy &\nSERVER", 1) + "exit $?\n",
	"own group":  strings.Replace(recorded, "exec SERVER", "setsid sh DIR/busy &\nSERVER", 1) + "exit $?\n",
}

// ends are how engines end while a chat runs.
var ends = map[string]struct {
	end    func(*testing.T, *host.Engine)
	status int
	final  bool // the chat gets a final frame
}{
	"shutdown":  {func(t *testing.T, e *host.Engine) { e.Send("s", "shutdown", nil) }, 0, true},
	"terminate": {func(_ *testing.T, e *host.Engine) { e.Signal(syscall.SIGTERM) }, 0, true},
	"interrupt": {func(_ *testing.T, e *host.Engine) { e.Signal(syscall.SIGINT) }, 0, true},
	"hang up":   {func(_ *testing.T, e *host.Engine) { e.Signal(syscall.SIGHUP) }, 0, true},
	"kill":      {func(_ *testing.T, e *host.Engine) { e.Signal(os.Kill) }, -1, false},
	"host gone": {func(_ *testing.T, e *host.Engine) { e.CloseStdin(); e.CloseStdout() }, 0, false},
}

func TestRealNothingOutlivesTheEngine(t *testing.T) {
	for wrapper, script := range wrappers {
		for name, c := range ends {
			if wrapper != "exec" && name != "shutdown" && name != "kill" {
				continue // the server's end doesn't depend on who asked for it
			}
			t.Run(wrapper+", "+name, func(t *testing.T) {
				t.Parallel()
				r := newReal(t)
				write(t, r.path("busy"), "trap '' TERM INT HUP\nwhile sleep 1; do :; done\n")
				r.script(script)
				e := r.start(endless, one, host.Options{})
				e.Chat("c", "Tell me of streams.")
				e.Event("c", "llm_chunk")
				guardian := guardianOf(t, e.PID())
				c.end(t, e)
				wantExit(t, e, c.status)
				if c.final {
					e.Error("c", "cancelled")
				}
				r.wantNothingLeft(guardian)
			})
		}
	}
}

// A terminal sends its Ctrl-C to the engine's whole process group: none of its children is in it.
func TestRealInterruptReachesTheEngineAlone(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	r.script(wrappers["no exec"])
	e := r.start(endless, one, host.Options{Group: true})
	e.Chat("c", "Tell me of streams.")
	e.Event("c", "llm_chunk")
	guardian := guardianOf(t, e.PID())
	for _, pid := range append(r.pids(), guardian) {
		if group := groupOf(t, pid); group == e.PID() {
			t.Errorf("%d is in the engine's group", pid)
		}
	}
	if err := syscall.Kill(-e.PID(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	e.Error("c", "cancelled")
	wantExit(t, e, 0)
	r.wantNothingLeft(guardian)
}

func TestRealShutdownWhileTheServerStarts(t *testing.T) {
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t)
			write(t, r.path("busy"), "while sleep 1; do :; done\n")
			r.script("#!/bin/sh\n" + passed + "echo $$ >> DIR/pids\nsh DIR/busy\n")
			e := r.start(quick, one, host.Options{})
			e.Chat("c", "hi")
			e.Send("w", "warmup", nil)
			testkit.Until(t, "the server starts", func() bool { return len(r.pids()) == 1 && len(r.left()) > 1 })
			wantAlive(t, e)
			guardian := guardianOf(t, e.PID())
			c.end(t, e)
			wantExit(t, e, c.status)
			if c.final {
				e.Error("c", "cancelled")
				e.Error("w", "cancelled")
			}
			r.wantNothingLeft(guardian)
		})
	}
}

func TestRealWarmupStartsTheServer(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	e := r.start(quick, one, host.Options{})
	warm := e.Call("w", "warmup", nil)
	if warm.Get("result.status").Str != "ok" || warm.Get("result.load_ms").Type.String() != "Number" || r.busy() != 0 {
		t.Errorf("warmup got %s", warm.Raw)
	}
	e.Chat("c", "What is a pipe?")
	wantText(t, e, "c")
	if len(r.pids()) != 1 {
		t.Errorf("servers were started: %v", r.pids())
	}
}

func TestRealIdleServerIsStopped(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	e := r.start(quick, one, host.Options{Env: []string{"SLUICE_LLAMA_SERVER_IDLE_TIMEOUT=100ms"}})
	for i := range 2 {
		e.Chat(numbered("c", i), "What is a pipe?")
		wantText(t, e, numbered("c", i))
		testkit.Until(t, "the server has ended", func() bool { return !runs(r.pids()[i]) })
	}
	wantAlive(t, e)
}

func TestRealFaultsOfTheStart(t *testing.T) {
	const failing = "#!/bin/sh\necho a first line\necho out of luck >&2\nexit 7\n"
	for name, c := range map[string]struct {
		args, config, script string
		code                 string
		words                []string
	}{
		"bad argument": {`"--no-such-flag"`, one, "", "internal_error", []string{"exit status", "--no-such-flag"}},
		"exit":         {quick, one, failing, "internal_error", []string{"exit status 7", "a first line\nout of luck"}},
		"no server":    {quick, one, "#!/bin/sh\nunset LLAMA_API_KEY\n" + strings.TrimPrefix(recorded, "#!/bin/sh\n"), "internal_error", []string{"LLAMA_API_KEY"}},
		"no program":   {quick, one, "#!" + "/no/such/interpreter\n", "binary_missing", []string{"llama-server"}},
		"no model":     {quick, "models: [{path: none.gguf}]\n", "", "model_missing", []string{"none.gguf"}},
		"no GGUF":      {quick, "models: [{path: config.yaml}]\n", "", "model_missing", []string{"config.yaml", "GGUF"}},
		"broken GGUF":  {quick, "models: [{path: pids}]\n", "", "model_missing", []string{"pids"}},
		"models":       {quick, "", "", "model_missing", []string{"models"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t)
			write(t, r.path("pids"), "GGUF\x03")
			if c.script != "" {
				r.script(c.script)
			}
			e := r.start(c.args, c.config, host.Options{})
			e.Chat("c", "hi")
			e.Error("c", c.code, c.words...)
			wantAlive(t, e)
			e.CloseStdin()
			wantExit(t, e, 0)
			testkit.Until(t, "no process is left", func() bool { return len(r.left()) == 0 })
		})
	}
}

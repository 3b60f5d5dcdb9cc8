//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit"
	"sluice/internal/testkit/host"
)

// commandOf is a plan's command. The bound of cached prompts is that of the memory which is free at the
// moment, so it is taken out where it isn't llama-server's own.
func commandOf(command []gjson.Result) (words []string) {
	for _, word := range command {
		words = append(words, word.Str)
	}
	return withoutCache(words)
}

func withoutCache(words []string) []string {
	at := slices.Index(words, "-cram")
	if at < 0 || at+1 == len(words) || words[at+1] == "8192" {
		return words
	}
	return slices.Delete(slices.Clone(words), at+1, at+2)
}

// argv is how the server was started, without the address.
func (r *real) argv() []string {
	text, _ := os.ReadFile(r.path("argv"))
	words := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	at := slices.Index(words, "--host")
	return withoutCache(slices.Delete(words, at, at+2))
}

// people runs a command in the folder as people do, and returns what it printed and its exit status.
func (r *real) people(args ...string) (stdout, stderr string, status int) {
	r.t.Helper()
	return runIn(r.t, r.dir, args...)
}

func runIn(t *testing.T, dir string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, problems strings.Builder
	command := exec.Command(built(t), args...)
	command.Dir, command.Stdout, command.Stderr = dir, &out, &problems
	command.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "SLUICE_") })
	err := command.Run()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		t.Fatal(err)
	}
	return out.String(), problems.String(), command.ProcessState.ExitCode()
}

// TestRealPlanIsWhatRuns: the plan before the start, the start, the server's own word, the plan while it
// runs, and the plan for people are one.
func TestRealPlanIsWhatRuns(t *testing.T) {
	for name, c := range map[string]struct {
		config        string
		slots, tokens int64
	}{
		"configured": {one, 2, 8192},
		"open":       {"models: [{path: model.gguf}]\n", 4, 32768},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t)
			e := r.start(quick, c.config, host.Options{})
			before := e.Call("p", "plan", nil).Get("result")
			if before.Get("plan.ctx_size").Int() != c.tokens || before.Get("plan.parallel").Int() != c.slots || !before.Get("fits").Bool() {
				t.Fatalf("the plan is %s", before.Raw)
			}
			if len(r.pids()) != 0 {
				t.Error("a plan started a server")
			}
			e.Chat("c", "What is a pipe?")
			timings := wantText(t, e, "c").Get("timings")
			if plan := timings.Get("plan_ms"); plan.Type != gjson.Number || plan.Int() > timings.Get("load_ms").Int() {
				t.Errorf("the timings are %s", timings.Raw)
			}
			command := commandOf(before.Get("command").Array())
			if got := r.argv(); !slices.Equal(got, command[1:]) {
				t.Errorf("it was started with\n%q, planned was\n%q", got, command[1:])
			}
			props, err := r.ask("/props")
			if err != nil || gjson.Get(props, "total_slots").Int() != c.slots || gjson.Get(props, "default_generation_settings.n_ctx").Int() != c.tokens {
				t.Errorf("the server says %.500s, %v", props, err)
			}
			if while := commandOf(e.Call("q", "plan", nil).Get("result.command").Array()); !slices.Equal(while, command) {
				t.Errorf("while it runs, planned is\n%q, before\n%q", while, command)
			}
			stdout, stderr, status := r.people("plan", "--json")
			if got := commandOf(gjson.Get(stdout, "command").Array()); status != exitDone || stderr != "" || !slices.Equal(got, command) {
				t.Errorf("status %d, for people planned is\n%q", status, got)
			}
			if stdout, _, status := r.people("plan"); status != exitDone || !strings.Contains(stdout, "fits") || strings.ContainsRune(stdout, '\x1b') {
				t.Errorf("status %d, people see %q", status, stdout)
			}
			if len(r.pids()) != 1 {
				t.Errorf("servers were started: %v", r.pids())
			}
		})
	}
}

// TestRealServerHoldsMemory, which a plan counts as free: its next server replaces it. Its caches, buffers
// and program come to 72 MiB once all of it was touched. There is a wrapper in front of it.
func TestRealServerHoldsMemory(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	r.script(strings.Replace(recorded, "exec SERVER", "SERVER", 1) + "exit $?\n")
	e := r.start(quick, "models: [{path: model.gguf}]\n", host.Options{})
	e.Send("w", "warmup", nil)
	e.Result("w")
	group := groupOf(t, r.pids()[0])
	if held := heldMemory(group); runtime.GOOS == "linux" && held < 20<<20 || held > 1<<30 {
		t.Errorf("the server holds %d bytes", held)
	}
}

// huge writes the GGUF of a model of 140 billion parameters. Its tensors are a hole.
func huge(t *testing.T, path string) {
	t.Helper()
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if text, isText := v.(string); isText {
				v = append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
			}
			if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	const layers, width, wide, words = 80, 12288, 32768, 32000
	numbers := []struct {
		key   string
		value uint32
	}{{"llama.context_length", 8192}, {"llama.embedding_length", width}, {"llama.block_count", layers}, {"llama.feed_forward_length", wide}, {"llama.attention.head_count", 96}, {"llama.attention.head_count_kv", 96}, {"llama.vocab_size", words}}
	names := map[string][2]uint64{"attn_q": {width, width}, "attn_k": {width, width}, "attn_v": {width, width}, "attn_output": {width, width}, "ffn_gate": {width, wide}, "ffn_up": {width, wide}, "ffn_down": {wide, width}}
	put([]byte("GGUF"), uint32(3), uint64(2+layers*len(names)), uint64(1+len(numbers)), "general.architecture", uint32(8), "llama")
	for _, n := range numbers {
		put(n.key, uint32(4), n.value)
	}
	size := uint64(0)
	tensor := func(name string, dims [2]uint64) {
		put(name, uint32(2), dims[0], dims[1], uint32(1), size) // 1 is F16 (ggml.h)
		size += 2 * dims[0] * dims[1]
	}
	tensor("token_embd.weight", [2]uint64{width, words})
	tensor("output.weight", [2]uint64{width, words})
	for layer := range layers {
		for name, dims := range names {
			tensor(numbered("blk.", layer)+"."+name+".weight", dims)
		}
	}
	write(t, path, b.String())
	if err := os.Truncate(path, int64(b.Len())+64+int64(size)); err != nil {
		t.Fatal(err)
	}
}

// TestRealNoFit: a chat, a warmup and a plan say so before anything is started.
func TestRealNoFit(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	huge(t, r.path("huge.gguf"))
	e := r.start(quick, "models: [{name: small, path: model.gguf}, {name: huge, path: huge.gguf}]\nagents: [{name: a, model: huge}, {name: b, model: small}]\n", host.Options{})
	e.Chat("c", "hi")
	words := []string{"does not fit", "GiB can be had", "smaller", "models[].ctx_size", "GPU"}
	e.Error("c", "model_plan_error", words...)
	e.Send("w", "warmup", nil)
	e.Error("w", "model_plan_error", words...)
	e.Send("p", "plan", nil)
	e.Error("p", "model_plan_error", words...)
	if report := e.Call("d", "doctor", map[string]any{"agent": "a"}).Get("result"); report.Get("status").Str != "fail" || !strings.Contains(report.Get(`checks.#(id=="model:huge").message`).Str, "does not fit") || report.Get(`checks.#(id=="model:small")`).Exists() {
		t.Errorf("doctor says %s", report.Raw)
	}
	if len(r.pids()) != 0 {
		t.Errorf("servers were started: %v", r.pids())
	}
	if stdout, stderr, status := r.people("plan"); status != exitFailed || stdout != "" || !strings.Contains(stderr, "does not fit") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, people see %q, %q", status, stdout, stderr)
	}
	e.Send("b", "chat", map[string]any{"agent": "b", "input": "What is a pipe?"})
	wantText(t, e, "b")
}

// TestHostileModels: each is named as what it is, at once, and the next model is served.
func TestHostileModels(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	if err := syscall.Mkfifo(r.path("fifo.gguf"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, r.path("text.gguf"), "no model at all\n")
	write(t, r.path("cut.gguf"), "GGUF\x03\x00\x00\x00")
	write(t, r.path("lies.gguf"), "GGUF\x03\x00\x00\x00"+strings.Repeat("\xff", 7)+"\x7f"+strings.Repeat("\xff", 7)+"\x7f")
	write(t, r.path("new.gguf"), "GGUF\x63\x00\x00\x00"+strings.Repeat("\x00", 16))
	write(t, r.path("empty.gguf"), "")
	kinds := map[string]string{
		"fifo.gguf": "FIFO", ".": "folder", "/dev/zero": "device", "text.gguf": "GGUF", "cut.gguf": "truncated", "lies.gguf": "lies.gguf", "new.gguf": "version", "empty.gguf": "empty", "none.gguf": "not there", "/none/\u0085x.gguf": "not there",
	}
	config, agents := "models:\n  - {name: good, path: model.gguf}\n", "agents:\n  - {name: good, model: good}\n"
	names := map[string]string{}
	for path, word := range kinds {
		name := numbered("m", len(names))
		names[name] = word
		config += "  - {name: " + name + ", path: \"" + strings.ReplaceAll(path, "\u0085", `\x85`) + "\"}\n"
		agents += "  - {name: " + name + ", model: " + name + "}\n"
	}
	e := r.start(quick, config+agents, host.Options{})
	for name, word := range names {
		for _, method := range []string{"plan", "warmup", "chat"} {
			e.Send(method+name, method, map[string]any{"agent": name, "input": "hi"})
			e.Error(method+name, "model_missing", word)
		}
	}
	report := e.Call("d", "doctor", nil).Get("result")
	for name, word := range names {
		found := report.Get(`checks.#(id=="model:` + name + `")`)
		if found.Get("status").Str != "fail" || !strings.Contains(found.Get("message").Str, word) || found.Get("hint").Str == "" {
			t.Errorf("%s: doctor says %s", word, found.Raw)
		}
	}
	if len(r.pids()) != 0 {
		t.Errorf("servers were started: %v", r.pids())
	}
	e.Chat("c", "What is a pipe?")
	wantText(t, e, "c")
}

// TestRealOldServer: a wrapper that shows no help, and a server that refuses new flags.
func TestRealOldServer(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	r.script(`#!/bin/sh
case "$1" in --list-devices) echo "unknown argument" >&2; exit 1;; --help) exit 0;; esac
for word; do case "$word" in -cram|-ctxcp|--fit) echo "error: invalid argument: $word" >&2; exit 1;; esac; done
` + strings.TrimPrefix(recorded, "#!/bin/sh\n"))
	e := r.start(quick, one, host.Options{})
	e.Chat("c", "What is a pipe?")
	wantText(t, e, "c")
	want := []string{"-m", r.path("model.gguf"), "-c", "16384", "-np", "2", "-ngl", "0", "-b", "2048", "-ub", "512", "-ctk", "f16", "-ctv", "f16", "-t", "1", "--no-warmup"}
	if got := r.argv(); !slices.Equal(got, want) {
		t.Errorf("it was started with %q", got)
	}
	warnings := e.Call("p", "plan", nil).Get("result.warnings").Raw
	if !strings.Contains(warnings, "doesn't know -cram, --fit") || !strings.Contains(warnings, "GPUs") {
		t.Errorf("the plan warns %s", warnings)
	}
}

// TestNothingOfAPlanOutlivesTheEngine: a program that hangs when it is asked dies with the engine, however
// that ends.
func TestNothingOfAPlanOutlivesTheEngine(t *testing.T) {
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t)
			write(t, r.path("busy"), "trap '' TERM INT HUP\nwhile sleep 1; do :; done\n")
			r.script("#!/bin/sh\ntouch DIR/asked\nsh DIR/busy &\nsh DIR/busy\n")
			e := r.start(quick, one, host.Options{})
			e.Chat("c", "hi")
			e.Send("p", "plan", nil)
			e.Send("d", "doctor", nil)
			testkit.Until(t, "the program is asked", func() bool { _, err := os.Stat(r.path("asked")); return err == nil && len(r.left()) > 1 })
			guardian := guardianOf(t, e.PID())
			c.end(t, e)
			wantExit(t, e, c.status)
			if c.final {
				e.Error("c", "cancelled")
				e.Error("p", "cancelled")
				e.Error("d", "cancelled")
			}
			r.wantNothingLeft(guardian)
		})
	}
}

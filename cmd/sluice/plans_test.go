//go:build unix

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/config"
	"sluice/internal/process"
	"sluice/internal/wire"
	"sluice/sources/demo"
)

// answering is a llama-server that answers what is asked before a start and notes it in the file asked.
const answering = `#!/bin/sh
echo "$@" >> DIR/asked
case "$1" in
--help) HELP;;
--list-devices) DEVICES;;
esac
`

// knowing is the help of a llama-server that knows all flags.
const knowing = `echo "-m, -c, -np, -ngl, -b, -ub, -ctk, -ctv, -cram, -ctxcp, --fit, --host, --port"`

// plansWorld is a configuration of the demo model and a program that answers.
type plansWorld struct {
	*plans
	t      testing.TB
	folder string
	log    strings.Builder
}

func newPlansWorld(t testing.TB, help, devices string) *plansWorld {
	t.Helper()
	w := &plansWorld{t: t, folder: t.TempDir()}
	text := strings.NewReplacer("HELP", help, "DEVICES", devices, "DIR", w.folder).Replace(answering)
	binary, model := filepath.Join(w.folder, "llama-server"), filepath.Join(w.folder, "model.gguf")
	if err := errors.Join(os.WriteFile(binary, []byte(text), 0o700), demo.WriteFile(model)); err != nil {
		t.Fatal(err)
	}
	settings := config.Default()
	settings.LlamaServer.Binary = binary
	settings.Models = []config.Model{{Name: "m", Path: model, CtxSize: 4096, Parallel: 2, GPULayers: "auto"}}
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	launcher := process.NewLauncher(process.LauncherOptions{})
	t.Cleanup(launcher.Close)
	w.plans = newPlans(&settings, launcher, askPatience, log)
	return w
}

// asked is what the program was asked so far.
func (w *plansWorld) asked() []string {
	text, _ := os.ReadFile(filepath.Join(w.folder, "asked"))
	return strings.Fields(string(text))
}

func (w *plansWorld) flags() string {
	w.t.Helper()
	flags, err := w.start(w.settings.Models[0])(w.t.Context(), w.settings.LlamaServer.Binary)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Join(flags, " ")
}

const gpuList = `echo "Available devices:"; echo "  CUDA0: a GPU (24124 MiB, 23837 MiB free)"`

// TestTheProgramIsAskedOnce for all starts and questions, until it is another one.
func TestTheProgramIsAskedOnce(t *testing.T) {
	w := newPlansWorld(t, knowing, gpuList)
	started := w.flags()
	if again := w.flags(); again != started || !strings.HasPrefix(started, "-c 8192 -np 2 -ngl 2 ") || !strings.HasSuffix(started, " --fit off") {
		t.Errorf("the flags are %q, then %q", started, again)
	}
	object, err := w.Plan(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	if command := gjson.GetBytes(object, "command").String(); !gjson.ValidBytes(object) || !strings.Contains(command, `"8192"`) {
		t.Errorf("the plan is %s", object)
	}
	if asked := w.asked(); !slices.Equal(slices.Sorted(slices.Values(asked)), []string{"--help", "--list-devices"}) {
		t.Errorf("it was asked %q", asked)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(w.settings.LlamaServer.Binary, later, later); err != nil {
		t.Fatal(err)
	}
	w.flags()
	if asked := w.asked(); len(asked) != 3 || asked[2] != "--help" {
		t.Errorf("it was asked %q", asked)
	}
}

// TestOldAndForeignPrograms start without what they don't know.
func TestOldAndForeignPrograms(t *testing.T) {
	const classic = "-c 8192 -np 2 -ngl 0 -b 2048 -ub 512 -ctk f16 -ctv f16"
	for name, c := range map[string]struct{ help, devices, want, log string }{
		"old":                {strings.NewReplacer("-cram, ", "", "--fit, ", "").Replace(knowing), "exit 1", classic, "doesn't know -cram, --fit"},
		"says nothing":       {":", ":", classic, "doesn't know -cram, --fit"},
		"help on stderr":     {knowing + " >&2", ":", classic + " -cram 8192 --fit off", "Available devices"},
		"fails":              {"echo -m; exit 3", "exit 4", classic, "exit status 3"},
		"devices on a crash": {knowing, "kill -9 $$", classic + " -cram 8192 --fit off", "killed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlansWorld(t, c.help, c.devices)
			got := w.flags()
			if at := strings.Index(got, "-cram "); at >= 0 { // what is left of the memory is this machine's
				got = got[:at] + "-cram 8192 " + got[strings.Index(got, "--fit"):]
			}
			if got != c.want || !strings.Contains(w.log.String(), c.log) {
				t.Errorf("the flags are %q, the log is %s", got, w.log.String())
			}
		})
	}
}

// TestAProgramThatHangs is killed after a while, and started with what all know.
func TestAProgramThatHangs(t *testing.T) {
	w := newPlansWorld(t, "sleep 1000", "sleep 1000")
	w.patience = 100 * time.Millisecond
	if got := w.flags(); !strings.HasSuffix(got, "-ctv f16") || !strings.Contains(w.log.String(), "can't be asked") {
		t.Errorf("the flags are %q, the log is %s", got, w.log.String())
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	if _, err := newPlansWorld(t, "sleep 1000", ":").result(ctx, "m"); err != reason {
		t.Errorf("got %v", err)
	}
}

// TestFaultsComeBeforeTheProgramIsAsked: nothing is started for what can't be planned.
func TestFaultsComeBeforeTheProgramIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*config.Config)
		model  string
		code   wire.Code
		word   string
	}{
		"no such model": {func(*config.Config) {}, "x", wire.CodeModelMissing, "no model"},
		"no file":       {func(c *config.Config) { c.Models[0].Path += ".none" }, "m", wire.CodeModelMissing, "not there"},
		"a folder":      {func(c *config.Config) { c.Models[0].Path = filepath.Dir(c.Models[0].Path) }, "m", wire.CodeModelMissing, "folder"},
		"a device":      {func(c *config.Config) { c.Models[0].Path = "/dev/zero" }, "m", wire.CodeModelMissing, "device"},
		"a server":      {func(c *config.Config) { c.LlamaServer.URL, c.Models[0].Path = "http://host:1", "" }, "m", wire.CodeInvalidRequest, "somebody else starts"},
		"a lost file":   {func(c *config.Config) { c.LlamaServer.URL, c.Models[0].Path = "http://host:1", "/none" }, "m", wire.CodeInvalidRequest, "somebody else starts"},
		"demo":          {func(c *config.Config) { c.LlamaServer.URL, c.Models[0].Path = config.DemoURL, "" }, "m", wire.CodeInvalidRequest, "embedded model"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlansWorld(t, knowing, gpuList)
			c.change(w.settings)
			_, err := w.Plan(t.Context(), c.model)
			var fault *wire.Fault
			if !errors.As(err, &fault) || fault.Code != c.code || !strings.Contains(fault.Message, c.word) {
				t.Errorf("got %v", err)
			}
			if asked := w.asked(); len(asked) > 0 {
				t.Errorf("it was asked %q", asked)
			}
		})
	}
}

// TestPlanWithoutAProgram: the file alone tells most, and a program that is installed later is asked then.
func TestPlanWithoutAProgram(t *testing.T) {
	w := newPlansWorld(t, knowing, gpuList)
	binary := w.settings.LlamaServer.Binary
	w.settings.LlamaServer.Binary += "-none"
	result, err := w.result(t.Context(), "m")
	if err != nil || len(result.Hardware.GPUs) > 0 || !strings.Contains(strings.Join(result.Warnings, " "), "does not exist") {
		t.Errorf("got %+v, %v", result, err)
	}
	w.settings.LlamaServer.Binary = binary
	if result, err = w.result(t.Context(), "m"); err != nil || len(result.Hardware.GPUs) != 1 || len(result.Warnings) > 0 {
		t.Errorf("got %+v, %v", result, err)
	}
}

// TestSecretsOfTheCommand are masked, and what a server is started with is whole.
func TestSecretsOfTheCommand(t *testing.T) {
	w := newPlansWorld(t, knowing, ":")
	w.settings.LlamaServer.Args = []string{"--ssl-key-file", "k.pem", "--some-token", "swordfish"}
	object, err := w.Plan(t.Context(), "m")
	if err != nil || strings.Contains(string(object), "swordfish") || !strings.Contains(string(object), "--some-token") {
		t.Errorf("the plan is %s, %v", object, err)
	}
}

// TestHeldMemory is that of this process, which no other plan must take for somebody else's.
func TestHeldMemory(t *testing.T) {
	if held := heldMemory(os.Getpid() + 1<<22); held != 0 { // above the largest process id
		t.Errorf("%d bytes of nobody", held)
	}
	w := newPlansWorld(t, knowing, ":")
	if w.held("m") != 0 {
		t.Error("nothing runs")
	}
	w.running = func(string) int { return 0 }
	if w.held("m") != 0 {
		t.Error("no server runs")
	}
}

// BenchmarkPlannedStart is what planning costs a chat whose server starts, the program having been asked.
func BenchmarkPlannedStart(b *testing.B) {
	w := newPlansWorld(b, knowing, ":")
	w.flags()
	for b.Loop() {
		w.flags()
	}
}

// TestEmbeddingModelsDoNotChat: a plan warns, a start is refused.
func TestEmbeddingModelsDoNotChat(t *testing.T) {
	w := newPlansWorld(t, knowing, ":")
	text := func(s string) string { return string(binary.LittleEndian.AppendUint64(nil, uint64(len(s)))) + s }
	header := "GGUF\x03\x00\x00\x00" + strings.Repeat("\x00", 8) + "\x02" + strings.Repeat("\x00", 7) +
		text("general.architecture") + "\x08\x00\x00\x00" + text("bert") + text("bert.attention.causal") + "\x07\x00\x00\x00\x00"
	if err := os.WriteFile(w.settings.Models[0].Path, []byte(header), 0o600); err != nil {
		t.Fatal(err)
	}
	result, err := w.result(t.Context(), "m")
	if err != nil || !result.Model.Embedding || !slices.Contains(result.Command, "--embedding") || !strings.Contains(strings.Join(result.Warnings, " "), "can't chat") {
		t.Errorf("got %+v, %v", result, err)
	}
	_, err = w.start(w.settings.Models[0])(t.Context(), w.settings.LlamaServer.Binary)
	var fault *wire.Fault
	if !errors.As(err, &fault) || fault.Code != wire.CodeModelPlan || !strings.Contains(fault.Message, "memory.embedding_model") {
		t.Errorf("got %v", err)
	}
}

// TestReportsWaitForOthers, and can be given up meanwhile.
func TestReportsWaitForOthers(t *testing.T) {
	x := newExamination(&config.Loaded{Config: config.Default()}, nil, nil, slog.New(slog.DiscardHandler))
	for range mostReports {
		x.turns <- struct{}{}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	if _, err := x.document(ctx, ""); err != reason {
		t.Errorf("got %v", err)
	}
	<-x.turns
	if object, err := x.document(t.Context(), ""); err != nil || gjson.GetBytes(object, "status").Str == "" || len(x.turns) != mostReports-1 {
		t.Errorf("got %s, %v", object, err)
	}
}

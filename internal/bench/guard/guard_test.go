package guard

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
)

var small = Sizes{Tokens: 500, Paced: 5 * time.Millisecond, SlowTokens: 500, Stall: 5 * time.Millisecond, Pings: 3}

// ofStandIn are options that measure a stand-in for the engine, into a temporary folder.
func ofStandIn(t *testing.T) Options {
	t.Helper()
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	folder := t.TempDir()
	return Options{
		Engine: os.Args[0], LoadServer: []string{os.Args[0], "load-server"}, Peer: []string{os.Args[0], "peer"},
		Baseline: filepath.Join(folder, "baseline.json"), Record: filepath.Join(folder, "record.json"),
		Results: filepath.Join(folder, "results.txt"), Summary: filepath.Join(folder, "summary.md"),
		Sizes: small, Rounds: 2, Sessions: 2, machine: func() Machine { return Machine{"one", 2, "linux/amd64"} },
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestBaselineIsWrittenAndComparedWith(t *testing.T) {
	options := ofStandIn(t)
	options.Update = true
	var rounds []Progress
	options.Progress = func(p Progress) { rounds = append(rounds, p) }
	v, err := Run(t.Context(), options)
	if err != nil || v.Written != options.Baseline || len(v.Findings) != 0 {
		t.Fatalf("%+v, %v", v, err)
	}
	if len(rounds) != 4 || rounds[3] != (Progress{2, 2, 2, 2}) {
		t.Errorf("%v", rounds)
	}
	var output bytes.Buffer
	options.Update, options.Output, options.Rounds = false, &output, 0
	v, err = Run(t.Context(), options)
	if err != nil || v.Regressed || v.Interrupted || len(v.Findings) == 0 || v.Findings[0].Rounds != 2 {
		t.Fatalf("%+v, %v", v, err)
	}
	for _, text := range []string{output.String(), read(t, options.Summary)} {
		if !strings.Contains(text, DropTime) || !strings.Contains(text, "not regressed") {
			t.Errorf("not told:\n%s", text)
		}
	}
}

func TestUnknownMachineIsRecorded(t *testing.T) {
	options := ofStandIn(t)
	if err := (&Baseline{}).Write(options.Baseline); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	options.Output = &output
	v, err := Run(t.Context(), options)
	if err != nil || v.Regressed || v.Recorded != options.Record || v.Written != "" {
		t.Fatalf("%+v, %v", v, err)
	}
	if want := "doesn't know this machine (one, 2 cores, linux/amd64); the run is recorded in " + options.Record; !strings.Contains(output.String(), want) {
		t.Errorf("%q", output.String())
	}
	record, err := Options{Baseline: options.Record}.readBaseline()
	if err != nil || record.Entry(v.Machine) == nil {
		t.Errorf("%+v, %v", record, err)
	}
}

func TestResultsAreInGoBenchmarkFormat(t *testing.T) {
	var output bytes.Buffer
	readings := []Reading{{DropCPU, 2.5, 250, "cpu-ns/event"}, {DropCPU, 2.6, 260, "cpu-ns/event"}}
	if err := writeReadings(&output, Machine{"one", 2, "linux/amd64"}, readings); err != nil {
		t.Fatal(err)
	}
	count := 0
	for reader := benchfmt.NewReader(&output, "results"); reader.Scan(); {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%v", reader.Result())
		}
		ratio, known := result.Value(ratioUnit)
		if !known || ratio != readings[count].Ratio || result.Name.String() != "Guard/W1/drop/cpu-2" || result.GetConfig("cpu") != "one" {
			t.Errorf("%+v", result)
		}
		count++
	}
	if count != len(readings) {
		t.Errorf("%d results", count)
	}
}

// interrupting ends the context in its second round, in which it has measured the first group.
type interrupting struct {
	simulated
	interrupt context.CancelFunc
}

func (i *interrupting) Round(ctx context.Context, groups []string, round int, sizes Sizes) ([]Reading, error) {
	if round == 0 {
		return i.simulated.Round(ctx, groups, round, sizes)
	}
	i.interrupt()
	readings, err := i.simulated.Round(ctx, groups[:1], round, sizes)
	return readings, errors.Join(err, ctx.Err())
}

func TestInterruptedRunTellsWhatItHas(t *testing.T) {
	options := ofStandIn(t)
	entry := Entry{Machine: options.machine(), Sizes: small, Rounds: 5, Sessions: []Session{{DropCPU: {1, 1, 1}, PingP50: {1, 1}}}}
	baseline := Baseline{Entries: []Entry{entry}}
	if err := baseline.Write(options.Baseline); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	options.open = func() (meter, error) {
		return &interrupting{simulated{model: seeded(machineModel{}, 1)}, cancel}, nil
	}
	var output bytes.Buffer
	options.Output = &output
	v, err := Run(ctx, options)
	if err != nil || !v.Interrupted || v.Regressed || len(v.Findings) != 2 || v.Findings[0].Rounds != 2 || v.Findings[1].Rounds != 1 {
		t.Fatalf("%+v, %v", v, err)
	}
	if !strings.Contains(output.String(), "interrupted: this is no verdict") || !strings.Contains(read(t, options.Results), "Guard/W5/ping/p50") {
		t.Errorf("%s", output.String())
	}
}

func TestDullFiguresOfANewBaselineAreTold(t *testing.T) {
	calm, noisy := []float64{1, 1, 1}, []float64{1.5, 1.5}
	entry := Entry{Sessions: []Session{{DropCPU: calm, PingP50: calm}, {DropCPU: calm, PingP50: noisy}}}
	v := Verdict{Written: "baseline.json", Medians: medians(entry)}
	if got := v.Sentence(); !strings.Contains(got, "less than 20 % in W5/ping/p50: write it again") {
		t.Error(got)
	}
}

func TestInterruptedRunOfAnUnknownMachineIsNotRecorded(t *testing.T) {
	options := ofStandIn(t)
	if err := (&Baseline{}).Write(options.Baseline); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	options.open = func() (meter, error) {
		return &interrupting{simulated{model: seeded(machineModel{}, 1)}, cancel}, nil
	}
	v, err := Run(ctx, options)
	if err != nil || !v.Interrupted || v.Recorded != "" || len(v.Medians) != len(Figures) || v.Medians[0].Value != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := os.Stat(options.Record); err == nil {
		t.Error("half a run was recorded")
	}
}

func TestWhatAPersonHasToMendIsToldInOneLine(t *testing.T) {
	for name, test := range map[string]struct {
		baseline string
		change   func(*Options)
		want     string
	}{
		"other version": {`{"format":"sluice bench guard","version":7}`, nil, "version 7, this program compares version 1: write it anew with --guard-update"},
		"other entries": {`{"format":"sluice bench guard","version":2,"entries":{}}`, nil, "is a baseline of version 2"},
		"no baseline":   {`[]`, nil, "is no baseline of the guard"},
		"other JSON":    {`{"version":1}`, nil, "is no baseline of the guard"},
		"empty entry":   {`{"format":"sluice bench guard","version":1,"entries":[{}]}`, nil, "nothing was measured"},
		"zero ratio": {`{"format":"sluice bench guard","version":1,"entries":[{"rounds":1,"sessions":[{"W1/drop/cpu":[0]}]}]}`,
			nil, "isn't positive"},
		"missing": {"", nil, "write one with --guard-update"},
		"no folder": {`{"format":"sluice bench guard","version":1}`,
			func(o *Options) { o.Results = "no/such/folder/results.txt" }, "no/such/folder/results.txt can't be written"},
		"results in a folder's place": {`{"format":"sluice bench guard","version":1}`,
			func(o *Options) { o.Results = t.TempDir() }, "can't be written"},
		"record in a folder's place": {`{"format":"sluice bench guard","version":1}`,
			func(o *Options) { o.Record = t.TempDir() }, "can't be written"},
		"results over the baseline": {`{"format":"sluice bench guard","version":1}`,
			func(o *Options) { o.Results = o.Baseline }, "is the baseline: name another file"},
		"record over the baseline": {`{"format":"sluice bench guard","version":1}`,
			func(o *Options) { o.Record = filepath.Dir(o.Baseline) + "/./" + filepath.Base(o.Baseline) }, "is the baseline: name another file"},
		"results over a new baseline": {"", func(o *Options) { o.Update, o.Results = true, o.Baseline }, "is the baseline: name another file"},
		"baseline without a folder":   {"", func(o *Options) { o.Update, o.Baseline = true, "no/such/folder/baseline.json" }, "can't be written"},
		"update of something else":    {`{"name":"a file of mine"}`, func(o *Options) { o.Update = true }, "is no baseline of the guard"},
	} {
		t.Run(name, func(t *testing.T) {
			options := ofStandIn(t)
			if test.baseline != "" {
				if err := os.WriteFile(options.Baseline, []byte(test.baseline), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if test.change != nil {
				test.change(&options)
			}
			_, err := Run(t.Context(), options)
			var usage *UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestPathsAreTriedWithoutATrace: neither a file that is there is changed nor one left that wasn't.
func TestPathsAreTriedWithoutATrace(t *testing.T) {
	there, missing := filepath.Join(t.TempDir(), "there"), filepath.Join(t.TempDir(), "missing")
	if err := os.WriteFile(there, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := guarding{options: Options{Results: there, Record: missing}}
	if err := g.checkPaths(); err != nil || read(t, there) != "text" {
		t.Errorf("%q, %v", read(t, there), err)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a file was left")
	}
	// what a known machine's run doesn't write needs no place
	g = guarding{options: Options{Record: "no/such/folder/record"}, entry: &Entry{}}
	if err := g.checkPaths(); err != nil {
		t.Error(err)
	}
}

// TestBaselineThatCantBeReplaced is not told as written, and nothing is left beside it.
func TestBaselineThatCantBeReplaced(t *testing.T) {
	options := ofStandIn(t)
	options.Update, options.Sessions, options.Rounds = true, 1, 1
	var output bytes.Buffer
	options.Output = &output
	options.open = func() (meter, error) {
		return &simulated{model: seeded(machineModel{}, 1)}, os.MkdirAll(filepath.Join(options.Baseline, "full"), 0o700)
	}
	if v, err := Run(t.Context(), options); err == nil || v.Written != "" || strings.Contains(output.String(), "is written") {
		t.Errorf("%+v, %v, %s", v, err, output.String())
	}
	if _, err := os.Stat(options.Baseline + unfinishedSuffix); err == nil {
		t.Error("a part of it was left")
	}
}

func TestFailingEngineIsAnError(t *testing.T) {
	options := ofStandIn(t)
	t.Setenv("BENCH_STANDIN", "loses")
	options.Update = true
	if v, err := Run(t.Context(), options); err == nil || !strings.Contains(err.Error(), "round 1: W1:") || v.Written != "" {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := os.Stat(options.Baseline); err == nil {
		t.Error("a baseline was written")
	}
}

func TestPeerRepeatsItsInput(t *testing.T) {
	var output bytes.Buffer
	if err := RunPeer([]string{"echo"}, strings.NewReader("a\nb\n"), &output); err != nil || output.String() != "a\nb\n" {
		t.Errorf("%q, %v", output.String(), err)
	}
	if err := RunPeer([]string{"sing"}, nil, nil); err == nil {
		t.Error("it sings")
	}
}

package report

import (
	"errors"
	"strings"
	"testing"

	"sluice/internal/bench/host"
)

// brokenPipe takes nothing.
type brokenPipe struct{}

var errBroken = errors.New("broken")

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }

func TestTable(t *testing.T) {
	var text strings.Builder
	if err := example().WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "table.txt", text.String())
}

// TestJSON holds the names and the form that programs rely on; a change of them raises Format.
func TestJSON(t *testing.T) {
	var text strings.Builder
	if err := example().WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "report.json", text.String())
}

func TestEveryFormTellsThatItCouldNotBeWritten(t *testing.T) {
	r := example()
	for name, err := range map[string]error{
		"table": r.WriteTable(brokenPipe{}), "JSON": r.WriteJSON(brokenPipe{}), "HTML": r.WriteHTML(brokenPipe{}),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInterruptedTable(t *testing.T) {
	r := example()
	r.Runs = r.Runs[:2]
	r.Runs[1].Cut, r.Interrupted = "interrupted", true
	r.Runs = append(r.Runs, &Run{Label: host.ReaderStalled, Cut: "interrupted"}) // before its first sample
	var text strings.Builder
	if err := r.WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"throttled*", "* throttled: interrupted", "* stalled: interrupted", "Interrupted: the runs"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q isn't in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "cost the model") {
		t.Errorf("a run that was cut tells what it cost:\n%s", text.String())
	}
}

func TestTableTellsWhyTextIsMissing(t *testing.T) {
	r := example()
	r.Runs[2].Lost, r.Runs[2].BeyondBound = 7, true
	if notes := strings.Join(r.notes(), "\n"); !strings.Contains(notes, "output.pending_bytes") {
		t.Errorf("the notes are %q", notes)
	}
}

func TestCompareTakesTheMedianOfTheFastRuns(t *testing.T) {
	r := example()
	for index, want := range []float64{1, 0.26 / 0.21, 0.215 / 0.21, 1} {
		if got := r.Runs[index].OfFast; got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s: %v, want %v", r.Runs[index].Label, got, want)
		}
	}
	r.Runs[0].StreamTimes = []float64{0.1, 0.4}
	r.Compare()
	if got := r.Runs[1].OfFast; got < 0.26/0.25-1e-9 || got > 0.26/0.25+1e-9 {
		t.Errorf("of two: %v", got)
	}
	r.Runs[0].Cut = "interrupted"
	r.Compare()
	if r.Runs[1].OfFast != 0 {
		t.Error("compared with a run that was cut")
	}
}

func TestFailed(t *testing.T) {
	lost, dropped := slowRun(host.ReaderStalled, 1), slowRun(host.ReaderStalled, 1)
	beyond := slowRun(host.ReaderStalled, 1)
	lost.Lost, dropped.Lost, dropped.Policy = 1, 1, "drop"
	beyond.Lost, beyond.BeyondBound = 1, true
	for _, test := range []struct {
		name string
		run  *Run
		want bool
	}{
		{"whole", slowRun(host.ReaderStalled, 1), false},
		{"error", &Run{Error: "oh"}, true},
		{"cut without a sample", &Run{Cut: "interrupted"}, false},
		{"lost", lost, true},
		{"dropped as asked", dropped, false},
		{"dropped beyond the bound", beyond, false},
	} {
		if got := test.run.Failed(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestThisMachineKnowsItself(t *testing.T) {
	m := ThisMachine()
	if m.Processor == "" || m.Cores < 1 || !strings.Contains(m.System, "/") || !strings.HasPrefix(m.Go, "go") || !strings.HasSuffix(m.String(), m.Go) {
		t.Errorf("%+v", m)
	}
}

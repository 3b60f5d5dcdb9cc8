package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sluice/bench/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWorkloadsAreChosenByNameOrGroup(t *testing.T) {
	all := workload.All(workload.Sizes{})
	for names, want := range map[string]string{
		"all": "W1 W2/100 W2/1000 W2/10000 W3/pipe W3/socket W4/1 W4/8 W4/64 W4/512 W5 W6/1 W6/8",
		"W1":  "W1", "W2": "W2/100 W2/1000 W2/10000",
		"W5,W2/10000": "W5 W2/10000", "W9": "no workload", "": "no workload",
	} {
		chosen, err := choose(all, names)
		var ids []string
		for _, w := range chosen {
			ids = append(ids, w.ID)
		}
		got := strings.Join(ids, " ")
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("choose(%q) = %s, want %s", names, got, want)
		}
	}
}

func TestWrongCallsExitWithTwo(t *testing.T) {
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	for _, arguments := range [][]string{{"-nothing"}, {"-rounds", "0"}, {"more"}, {"-workload", "W9"}} {
		if status := run(t.Context(), arguments, output, output); status != 2 {
			t.Errorf("run(%q) = %d", arguments, status)
		}
	}
}

func TestMissingEngineExitsWithOne(t *testing.T) {
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	if status := run(t.Context(), []string{"-engine", "no-such-engine"}, output, output); status != 1 {
		t.Errorf("status %d, want 1", status)
	}
	text, err := os.ReadFile(output.Name())
	if err != nil || !bytes.Contains(text, []byte("no-such-engine")) {
		t.Errorf("stderr: %s, %v", text, err)
	}
}

func TestWhatWasMeasuredBeforeAnErrorIsTold(t *testing.T) {
	cause := errors.New("cause")
	for _, asJSON := range []bool{false, true} {
		var output bytes.Buffer
		err := report(asJSON, &output, func(tell func(*workload.Result) error) error {
			if err := tell(&workload.Result{Workload: "W0"}); err != nil {
				return err
			}
			return cause
		})
		if !errors.Is(err, cause) || !strings.Contains(output.String(), "W0") || asJSON != json.Valid(output.Bytes()) {
			t.Errorf("JSON %v: %v, %s", asJSON, err, output.String())
		}
	}
}

func TestProgressIsOnlyForTerminals(t *testing.T) {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if progress(file, "W1", 1) != nil {
		t.Error("there is progress without a terminal")
	}
}

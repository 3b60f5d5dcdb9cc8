//go:build unix

package process

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestReadTargets(t *testing.T) {
	one, two := MarkerPrefix+"1", MarkerPrefix+"2"
	for name, c := range map[string]struct {
		input string
		want  []target
	}{
		"nothing":             {"", nil},
		"the newest counts":   {`{"marker":"` + one + `"}` + "\n" + `{"marker":"` + one + `","group":7}` + "\n", []target{{Marker: one, Group: 7}}},
		"gone":                {`{"marker":"` + one + `"}` + "\n" + `{"marker":"` + one + `","gone":true}` + "\n", nil},
		"unfinished line":     {`{"marker":"` + one + `"}` + "\n" + `{"marker":"` + two, []target{{Marker: one}}},
		"noise is skipped":    {"x\n\n" + `{"marker":"` + two + `"}` + "\n", []target{{Marker: two}}},
		"no marker":           {`{"group":7}` + "\n" + `{"marker":"","group":7}` + "\n" + `{"marker":"` + MarkerPrefix + `","group":7}` + "\n", nil},
		"foreign marker":      {`{"marker":"PATH"}` + "\n", nil},
		"group of everybody":  {`{"marker":"` + one + `","group":1}` + "\n", nil},
		"group below nothing": {`{"marker":"` + one + `","group":-5}` + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := slices.Collect(maps.Values(readTargets(strings.NewReader(c.input))))
			if !slices.Equal(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestGuardianKillsWhatIsLeft(t *testing.T) {
	scratch := filepath.Join(t.TempDir(), "scratch")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	left := newProcess(shell("exec sleep 1000", ""), func(*Process) {})
	if err := left.start(); err != nil {
		t.Fatal(err)
	}
	bystander := exec.Command("sleep", "1000")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()
	ended := make(chan struct{})
	go func() { defer close(ended); _ = left.cmd.Wait() }()
	target := left.target
	target.Scratch = scratch
	line := `{"marker":"` + target.Marker + `","group":` + strconv.Itoa(target.Group) + `,"scratch":"` + scratch + `"}`
	// In a process of its own: it makes its process ignore signals.
	guardian := exec.Command(os.Args[0], "guardian")
	guardian.Stdin = strings.NewReader(line + "\n")
	if err := guardian.Run(); err != nil {
		t.Error(err)
	}
	<-ended
	if _, err := os.Stat(scratch); err == nil {
		t.Error("the scratch folder is left")
	}
	if !runs(bystander.Process.Pid) {
		t.Error("a process that isn't ours was killed")
	}
}

func FuzzReadTargets(f *testing.F) {
	f.Add(`{"marker":"_SLUICE_CHILD_1","group":7,"scratch":"/tmp/x"}` + "\n" + `{"marker":"_SLUICE_CHILD_1","gone":true}` + "\n")
	f.Add(`{"marker":"_SLUICE_CHILD_1","group":1}`)
	f.Add(`{"group":-1}` + "\n{")
	f.Fuzz(func(t *testing.T, input string) {
		for marker, left := range readTargets(strings.NewReader(input)) {
			if !strings.HasPrefix(marker, MarkerPrefix) || marker != left.Marker || left.Group < 0 || left.Group == 1 || left.Gone {
				t.Errorf("the guardian would end %+v", left)
			}
		}
	})
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"sluice/internal/testkit"
)

// fakeProc makes a folder like /proc with these processes.
func fakeProc(t *testing.T, processes ...fakeProcess) string {
	t.Helper()
	proc := t.TempDir()
	for _, p := range processes {
		folder := filepath.Join(proc, fmt.Sprint(p.pid))
		environ := "PATH=/bin\x00"
		for _, marker := range p.markers {
			environ += marker + "=1\x00"
		}
		stat := fmt.Sprintf("%d (%s) %s %d 1 1 0\n", p.pid, p.name, p.state, p.parent)
		err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(folder+"/stat", []byte(stat), 0o600), os.WriteFile(folder+"/environ", []byte(environ), 0o600))
		if p.exe != "" {
			err = errors.Join(err, os.Symlink(p.exe, folder+"/exe"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return proc
}

type fakeProcess struct {
	pid, parent      int
	name, state, exe string
	markers          []string
}

func TestFindOrphans(t *testing.T) {
	const one, two = "_SLUICE_CHILD_1", "_SLUICE_CHILD_2"
	start := fakeProcess{1, 0, "systemd", "S", "/sbin/init", nil}
	engine := fakeProcess{10, 1, "sluice", "S", "/bin/sluice", nil}
	for name, c := range map[string]struct {
		processes []fakeProcess
		want      []int
	}{
		"none":                      {nil, nil},
		"of a running engine":       {[]fakeProcess{engine, {11, 10, "llama-server", "S", "", []string{one}}, {12, 11, "helper", "R", "", []string{one}}}, nil},
		"left over":                 {[]fakeProcess{engine, {11, 1, "llama-server", "S", "", []string{one}}, {12, 11, "helper (x) y", "S", "", []string{one}}}, []int{11, 12}},
		"a daemon of a running one": {[]fakeProcess{engine, {11, 10, "npx", "S", "", []string{one}}, {12, 1, "daemon", "S", "", []string{one}}}, nil},
		"two families":              {[]fakeProcess{engine, {11, 10, "npx", "S", "", []string{one}}, {13, 1, "npx", "S", "", []string{two}}}, []int{13}},
		"an engine in an engine": {[]fakeProcess{engine, {11, 10, "tool", "S", "", []string{one}}, {12, 11, "sluice", "S", "", []string{one}},
			{13, 12, "llama-server", "S", "", []string{one, two}}}, nil},
		"a zombie":                 {[]fakeProcess{{11, 1, "llama-server", "Z", "", []string{one}}}, nil},
		"another name of ours":     {[]fakeProcess{{10, 1, "a name that is c", "S", "/opt/dex (deleted)", nil}, {11, 10, "x", "S", "", []string{one}}}, nil},
		"another prefix":           {[]fakeProcess{{11, 1, "x", "S", "", []string{"SLUICE_CHILD_1", "X_SLUICE_CHILD_1"}}}, nil},
		"a circle":                 {[]fakeProcess{{11, 12, "x", "S", "", []string{one}}, {12, 11, "y", "S", "", []string{one}}}, []int{11, 12}},
		"its parent can't be seen": {[]fakeProcess{{11, 99, "x", "S", "", []string{one}}}, []int{11}},
	} {
		t.Run(name, func(t *testing.T) {
			left, err := FindOrphans(t.Context(), fakeProc(t, append(c.processes, start)...), "_SLUICE_CHILD_", []string{"sluice", "dex"})
			var ids []int
			for _, p := range left {
				ids = append(ids, p.PID)
			}
			if err != nil || !slices.Equal(ids, c.want) {
				t.Errorf("%v, %v", left, err)
			}
		})
	}
	if _, err := FindOrphans(t.Context(), filepath.Join(t.TempDir(), "none"), "_", nil); err == nil {
		t.Error("no /proc is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FindOrphans(ctx, fakeProc(t, start), "_", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRealOrphan finds a real process, which only an engine of another name explains.
func TestRealOrphan(t *testing.T) {
	prefix := fmt.Sprintf("_DOCTOR_TEST_%d_", os.Getpid())
	child := exec.Command("sleep", "1000")
	child.Env = []string{prefix + "x=1"}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	self := filepath.Base(os.Args[0])
	testkit.Until(t, "the child shows its marker", func() bool {
		left, err := FindOrphans(t.Context(), "/proc", prefix, []string{"no-such-engine"})
		return err == nil && len(left) == 1 && left[0].PID == child.Process.Pid && left[0].Name == "sleep"
	})
	if left, err := FindOrphans(t.Context(), "/proc", prefix, []string{self}); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

package process

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// fakeProc makes a proc of process 7, which leads group 7, of 8 with the marker and of 9, a stranger.
func fakeProc(t *testing.T, marker string) string {
	proc := t.TempDir()
	if err := os.Symlink("70", filepath.Join(proc, "self")); err != nil {
		t.Fatal(err)
	}
	for pid, p := range map[string]struct{ stat, environ string }{
		"7": {"7 (a) b) S 1 7 7", "HOME=/"},
		"8": {"8 (x) S 1 8 8", "HOME=/\x00" + marker + "=1"},
		"9": {"9 (x) S 1 9 9", "HOME=/"},
	} {
		folder := filepath.Join(proc, pid)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"stat": p.stat, "environ": p.environ} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return proc
}

// In a PID namespace that shows the proc of another, process 8 is not 8: it must not be signalled.
func TestFamilyIsOnlySoughtInOurOwnProc(t *testing.T) {
	target := target{Marker: newMarker(), Group: 7}
	proc := fakeProc(t, target.Marker)
	if got, want := target.family(proc, 70), (map[int]kinship{7: member, 8: offspring}); !maps.Equal(got, want) {
		t.Errorf("in our proc: got %v, want %v", got, want)
	}
	if got := target.family(proc, 1); len(got) != 0 {
		t.Errorf("in another's proc: got %v", got)
	}
}

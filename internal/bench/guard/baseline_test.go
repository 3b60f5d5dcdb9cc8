package guard

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestBaselineKeepsOtherMachines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline.json")
	one := Entry{Machine: Machine{"one", 2, "linux/amd64"}, Sizes: small, Rounds: 2, Sessions: []Session{{DropCPU: {1.5, 0.25}, PingP50: {2}}}}
	other := one
	other.Machine.Cores = 4
	for _, entry := range []Entry{one, other, one} {
		b, err := Options{Baseline: path, Update: true}.readBaseline()
		if err != nil {
			t.Fatal(err)
		}
		b.Put(entry)
		if err := b.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Options{Baseline: path}.readBaseline()
	if err != nil || len(b.Entries) != 2 || b.Entry(other.Machine).Sessions[0][DropCPU][1] != 0.25 {
		t.Errorf("%+v, %v", b, err)
	}
	if b.Entry(Machine{"one", 8, "linux/amd64"}) != nil {
		t.Error("more cores are another machine")
	}
	if text := read(t, path); !strings.Contains(text, `"W1/drop/cpu": [1.5, 0.25]`) || !strings.Contains(text, `"W5/ping/p50": [2]`) {
		t.Errorf("not readable:\n%s", text)
	}
}

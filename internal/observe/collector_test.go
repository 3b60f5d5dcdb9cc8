package observe

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/wire"
)

// TestCountersNeverFall, although a stall under way may end a little earlier than it was told.
func TestCountersNeverFall(t *testing.T) {
	now := wire.Stats{StallReader: wire.StallStats{Count: 2, Time: 3 * time.Second}}
	c := newCounters(Options{Stats: func() *wire.Stats { return &now }})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	gather := func() (values map[string]float64) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		values = map[string]float64{}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				if labels := m.GetLabel(); len(labels) > 0 && labels[0].GetValue() == "reader" {
					values[family.GetName()] = m.GetCounter().GetValue()
				}
			}
		}
		return values
	}
	for _, test := range []struct {
		told, want wire.StallStats
	}{
		{wire.StallStats{Count: 2, Time: 3 * time.Second}, wire.StallStats{Count: 2, Time: 3 * time.Second}},
		{wire.StallStats{Count: 1, Time: 2 * time.Second}, wire.StallStats{Count: 2, Time: 3 * time.Second}},
		{wire.StallStats{Count: 3, Time: 4 * time.Second}, wire.StallStats{Count: 3, Time: 4 * time.Second}},
	} {
		now.StallReader = test.told
		got := gather()
		if got["sluice_stalls_total"] != float64(test.want.Count) || got["sluice_stall_seconds_total"] != test.want.Time.Seconds() {
			t.Errorf("told %+v: %v", test.told, got)
		}
	}
}

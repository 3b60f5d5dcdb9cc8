package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics are what is measured for each write. Everything else is read from the counters when
// somebody asks.
type Metrics struct{ write, added prometheus.Histogram }

// NewMetrics returns empty metrics.
func NewMetrics() *Metrics {
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	return &Metrics{
		// 4 µs to 17 s, and 16 µs to 67 s: from a write into an empty pipe to a reader that has gone to sleep.
		write: histogram("sluice_output_write_duration_seconds", "Time of one write to stdout.", prometheus.ExponentialBuckets(4e-6, 4, 12)),
		added: histogram("sluice_added_latency_seconds",
			"Time from the arrival of tokens to the end of the write that carried them; one batch is sampled a write.", prometheus.ExponentialBuckets(16e-6, 4, 12)),
	}
}

// Wrote takes in one write: how long it took, and how long before its end the sampled batch in it had
// arrived; 0 when there was none.
func (m *Metrics) Wrote(took, added time.Duration) {
	m.write.Observe(took.Seconds())
	if added > 0 {
		m.added.Observe(added.Seconds())
	}
}

// registry returns everything that /metrics shows.
func (m *Metrics) registry(o Options) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(m.write, m.added, newCounters(o),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

package observe

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/wire"
)

// counters reads the engine's counters when it is asked for them. It is a prometheus.Collector.
type counters struct {
	options Options

	mu     sync.Mutex
	stalls map[wire.Cause]wire.StallStats // the most that was told
}

func newCounters(o Options) *counters {
	return &counters{options: o, stalls: map[wire.Cause]wire.StallStats{}}
}

func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("sluice_"+name, help, labels, nil)
}

var (
	buildInfo    = metric("build_info", "1; the label tells the version.", "version")
	uptime       = metric("uptime_seconds", "Time since the engine started.")
	events       = metric("events_total", "Events of chats: sent to stdout as a line, merged into a waiting one, or dropped.", "result")
	outputFrames = metric("output_frames_total", "Frames handed to stdout, of every kind.")
	outputBytes  = metric("output_bytes_total", "Bytes handed to stdout.")
	batches      = metric("output_batches_total", "Writes to stdout.")
	stalls       = metric("stalls_total", "Pauses of at least output.stall_threshold, by what was waited for.", "cause")
	stallTime    = metric("stall_seconds_total", "Time of these pauses, those under way included.", "cause")
	requests     = metric("requests_total", "Answered requests by method and outcome, which is ok or the code of the error.", "method", "outcome")
	chatTime     = metric("chat_seconds_total", "Time of ended chats, by what it was spent on.", "cause")
	stageItems   = metric("stage_items_total", "Elements that a stage handled.", "stage")
	stageTime    = metric("stage_busy_seconds_total", "Time spent in a stage.", "stage")
	queueFrames  = metric("queue_frames", "Frames that wait for stdout, in flight included.")
	queueBytes   = metric("queue_bytes", "Bytes that wait for stdout, in flight included.")
	queueMost    = metric("queue_max_bytes", "The most bytes that ever waited.")
	queueLimit   = metric("queue_limit_bytes", "Bound of the bytes that wait, by the class of frames.", "class")
	chatStates   = metric("chats", "Chats that have not ended, by state.", "state")
)

// Describe implements prometheus.Collector.
func (c *counters) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		buildInfo, uptime, events, outputFrames, outputBytes, batches, stalls, stallTime, requests, chatTime,
		stageItems, stageTime, queueFrames, queueBytes, queueMost, queueLimit, chatStates,
	} {
		to <- d
	}
}

// sample sends one value.
type sample func(d *prometheus.Desc, value float64, labels ...string)

// Collect implements prometheus.Collector.
func (c *counters) Collect(to chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType) sample {
		return func(d *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
		}
	}
	count, gauge := send(prometheus.CounterValue), send(prometheus.GaugeValue)
	s := c.options.Stats()
	gauge(buildInfo, 1, c.options.Version)
	gauge(uptime, s.Uptime.Seconds())
	collectOutput(count, s)
	c.collectStalls(count, s)
	collectWork(count, s)
	c.collectQueue(gauge, s)
	c.collectChats(gauge, s)
}

func collectOutput(count sample, s *wire.Stats) {
	count(events, float64(s.Sent), "sent")
	count(events, float64(s.Merged), "merged")
	count(events, float64(s.Dropped), "dropped")
	count(outputFrames, float64(s.Written.Frames))
	count(outputBytes, float64(s.Written.Bytes))
	count(batches, float64(s.Written.Batches))
}

func (c *counters) collectStalls(count sample, s *wire.Stats) {
	for cause, of := range map[wire.Cause]wire.StallStats{
		wire.CauseReader: s.StallReader, wire.CauseUpstream: s.StallUpstream, wire.CauseEngine: s.StallEngine,
	} {
		of = c.most(cause, of)
		count(stalls, float64(of.Count), string(cause))
		count(stallTime, of.Time.Seconds(), string(cause))
	}
}

// most returns the stalls of a cause, and never less than before. One that is under way can turn out a
// little shorter than it looked, and Prometheus would take the counter to have begun anew.
func (c *counters) most(cause wire.Cause, of wire.StallStats) wire.StallStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := c.stalls[cause]
	told.Count, told.Time = max(told.Count, of.Count), max(told.Time, of.Time)
	c.stalls[cause] = told
	return told
}

func collectWork(count sample, s *wire.Stats) {
	for _, r := range s.Requests {
		count(requests, float64(r.Count), r.Method, r.Outcome)
	}
	t := &s.ChatTime
	for cause, spent := range map[string]time.Duration{
		"queue": t.Queue, "load": t.Load, "tool": t.Tool,
		string(wire.CauseUpstream): t.Upstream, string(wire.CauseEngine): t.Engine, string(wire.CauseReader): t.Reader,
	} {
		count(chatTime, spent.Seconds(), cause)
	}
	for _, stage := range s.Stages {
		count(stageItems, float64(stage.Count), stage.Name)
		count(stageTime, stage.Busy.Seconds(), stage.Name)
	}
}

func (c *counters) collectQueue(gauge sample, s *wire.Stats) {
	gauge(queueFrames, float64(s.Queue.Frames))
	gauge(queueBytes, float64(s.Queue.Bytes))
	gauge(queueMost, float64(s.Queue.MaxBytes))
	gauge(queueLimit, float64(c.options.Bounds.PendingBytes), "events")
	gauge(queueLimit, float64(c.options.Bounds.GuaranteedBytes), "guaranteed")
}

// collectChats tells the states without a chat too, so that a graph of them has no gaps.
func (c *counters) collectChats(gauge sample, s *wire.Stats) {
	in := map[string]int{}
	for _, state := range c.options.ChatStates {
		in[state] = 0
	}
	for _, chat := range s.Chats {
		in[chat.State]++
	}
	for state, n := range in {
		gauge(chatStates, float64(n), state)
	}
}

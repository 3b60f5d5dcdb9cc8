package main

import (
	"log/slog"
	"net"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/config"
	"sluice/internal/observe"
	"sluice/internal/wire"
	"sluice/pipeline"
	"sluice/stages/encode"
	"sluice/stages/execute"
)

// inspection is what the debug section of the configuration switches on. The zero value of each part
// is off; the log of stalls is always on.
type inspection struct {
	settings *config.Config
	log      *slog.Logger
	listener net.Listener // nil without debug.addr; the server's once there is one
	metrics  *observe.Metrics
	stalls   *observe.Stalls
	server   *observe.Server
	recorder *observe.Recorder
}

// newInspection opens the endpoint's address, before anything else of an engine is made: an address
// that can't be had is a fault of the configuration.
func newInspection(settings *config.Config, log *slog.Logger) (*inspection, error) {
	i := &inspection{settings: settings, log: log, stalls: &observe.Stalls{Logger: log}}
	if settings.Debug.Addr == "" {
		return i, i.record()
	}
	listener, err := observe.Listen(settings.Debug.Addr, settings.Debug.Token)
	if err != nil {
		return nil, &config.Error{Key: "debug.addr", Reason: err.Error()}
	}
	i.listener, i.metrics = listener, observe.NewMetrics()
	return i, i.record()
}

// record starts the flight recorder.
func (i *inspection) record() error {
	if !i.settings.Debug.FlightRecorder {
		return nil
	}
	recorder, err := observe.Record(i.settings.App.DataDir, i.log)
	if err != nil {
		i.close()
		return &config.Error{Key: "debug.flight_recorder", Reason: err.Error()}
	}
	i.recorder, i.stalls.Recorder = recorder, recorder
	return nil
}

// onWrite is the sink's hook, nil when nobody asks for the metrics.
func (i *inspection) onWrite() func(took, added time.Duration) {
	if i.metrics == nil {
		return nil
	}
	return i.metrics.Wrote
}

// start lets the engine be looked at. close ends it.
func (i *inspection) start(engine *pipeline.Pipeline) {
	if i.recorder != nil {
		i.recorder.Watch(i.settings.Output.StallThreshold, func() int64 { return stallCount(engine.Stats()) })
	}
	if i.listener != nil {
		i.server = observe.Serve(i.listener, i.serverOptions(engine))
	}
}

func (i *inspection) serverOptions(engine *pipeline.Pipeline) observe.Options {
	output := i.settings.Output
	return observe.Options{
		Token:   i.settings.Debug.Token,
		DataDir: i.settings.App.DataDir,
		Version: version,
		Bounds: observe.Bounds{
			PendingBytes: output.PendingBytes, GuaranteedBytes: output.GuaranteedBytes, QueueFrames: output.QueueFrames,
		},
		ChatStates: execute.ChatStates,
		Stats:      engine.Stats,
		Encode:     appendStats,
		Metrics:    i.metrics,
		Stalls:     i.stalls,
		Logger:     i.log,
	}
}

// close ends what start began, and what newInspection opened.
func (i *inspection) close() {
	switch {
	case i.server != nil:
		i.server.Close()
	case i.listener != nil:
		_ = i.listener.Close()
	}
	if i.recorder != nil {
		i.recorder.Close()
	}
}

func stallCount(s *wire.Stats) int64 {
	return s.StallReader.Count + s.StallUpstream.Count + s.StallEngine.Count
}

// appendStats appends the result of the method stats, as a host of NDJSON v1 gets it.
func appendStats(dst []byte, s *wire.Stats) []byte {
	line := encode.NDJSON{}.AppendReply(nil, "", s, wire.Delivery{})
	return append(dst, gjson.GetBytes(line, "result").Raw...)
}

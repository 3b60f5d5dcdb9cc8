package main

import (
	"sluice/internal/wire"
	"sluice/pipeline"
	"sluice/sinks/stdout"
)

// sinkPort is the sink as pipeline sees it.
type sinkPort struct{ *stdout.Sink }

// Lane implements pipeline.Sink.
func (s sinkPort) Lane(id wire.ID) pipeline.Lane { return s.Sink.Lane(id) }

// Replies implements pipeline.Sink.
func (s sinkPort) Replies() pipeline.Lane { return s.Sink.Replies() }

// Fill implements pipeline.Sink.
func (s sinkPort) Fill(stats *wire.Stats) {
	own := s.Stats()
	stats.Queue, stats.Written = own.Queue, own.Written
	stats.Sent, stats.Merged, stats.Dropped = own.Sent, own.Merged, own.Dropped
	stats.StallReader = own.Stalls
}

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"sluice/bench/roles"
	"sluice/internal/bench/host"
	"sluice/internal/bench/measure"
)

// workloads measure one round of each program.
var workloads = map[string]func(context.Context, *bench) error{
	"W1": throughput,
	"W3": stalled,
	"W6": sinksAlone,
}

// Names of metrics.
const (
	events       = "events/s"
	cpu          = "us/event"
	ofLimit      = "of the limit"
	lost         = "lost" // part of the text, or of the lines
	fastSeconds  = "fast"
	stallSeconds = "stalled"
	rss          = "rss"
	lines        = "lines/s"
	allocations  = "allocations/line"
)

// throughput is W1: one chat as fast as it is read.
func throughput(ctx context.Context, b *bench) error {
	unbounded := fmt.Sprintf("queue_frames: %d, pending_bytes: 4GiB", b.sizes.tokens+1024) // never fills
	every, err := b.session.Run(ctx, measure.Load{Tokens: b.sizes.tokens, Policy: "drop", Output: unbounded})
	if err != nil {
		return err
	}
	limit, err := b.runLimit(ctx, every.Bytes)
	if err != nil {
		return err
	}
	merging, err := b.session.Run(ctx, measure.Load{Tokens: b.sizes.tokens, Policy: "coalesce"})
	if err != nil {
		return err
	}
	speed := limit.EventsPerSecond
	b.addThroughput(limitName, engineOutcome(limit), speed)
	b.addThroughput(engineName, engineOutcome(every), speed)
	b.addThroughput(mergingName, engineOutcome(merging), speed)
	for _, p := range b.peers {
		result, err := b.runFast(ctx, p)
		if err != nil {
			return err
		}
		b.addThroughput(p.name, result, speed)
	}
	return nil
}

// smallBelow is the rate, in events per second, below which a program runs fewer tokens.
const smallBelow = 200_000

// runFast finds out with few tokens whether a peer is fast enough for all of them.
func (b *bench) runFast(ctx context.Context, p peer) (outcome, error) {
	result, err := b.runPeer(ctx, p, b.sizes.smallTokens, host.Model{})
	if err != nil || result.eventsPerSecond < smallBelow {
		return result, err
	}
	return b.runPeer(ctx, p, b.sizes.tokens, host.Model{})
}

func (b *bench) runLimit(ctx context.Context, bytes int) (*measure.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return b.session.RunProgram(ctx, measure.Load{Tokens: b.sizes.tokens}, measure.Program{
		Path: self, Filled: true, Args: []string{roles.Limit, "-address", b.session.Address(),
			"-tokens", strconv.Itoa(b.sizes.tokens), "-bytes", strconv.Itoa(bytes)},
	})
}

func engineOutcome(r *measure.Result) outcome {
	return outcome{
		eventsPerSecond: r.EventsPerSecond, cpu: r.CPUSecondsPerMillion, streamSeconds: r.StreamSeconds,
		lost: float64(r.Lost) / float64(r.Tokens+r.Lost), peakRSS: r.PeakRSS,
	}
}

func (b *bench) addThroughput(program string, o outcome, limit float64) {
	b.figures.add("W1", program, map[string]float64{
		events: o.eventsPerSecond, cpu: o.cpu, ofLimit: o.eventsPerSecond / limit, lost: o.lost, rss: float64(o.peakRSS),
	})
}

// stalled is W3 with a reader that reads nothing for a time: who pays for it?
func stalled(ctx context.Context, b *bench) error {
	for _, engine := range []struct{ name, policy string }{{mergingName, "coalesce"}, {droppingName, "drop"}} {
		err := b.fastAndStalled(engine.name, func(reader host.Model) (outcome, error) {
			l := measure.Load{Tokens: b.sizes.slowTokens, Policy: engine.policy, Reader: reader, SlowFor: b.sizes.stall}
			r, err := b.session.Run(ctx, l)
			if err != nil {
				return outcome{}, err
			}
			return engineOutcome(r), nil
		})
		if err != nil {
			return err
		}
	}
	for _, p := range b.peers {
		if !p.slow {
			continue
		}
		count := b.sizes.slowTokens
		if p.small {
			count = b.sizes.smallTokens
		}
		err := b.fastAndStalled(p.name, func(reader host.Model) (outcome, error) { return b.runPeer(ctx, p, count, reader) })
		if err != nil {
			return err
		}
	}
	return nil
}

// fastAndStalled runs a program with a fast reader and with one that stalls.
func (b *bench) fastAndStalled(program string, run func(host.Model) (outcome, error)) error {
	fast, err := run(host.Model{})
	if err != nil {
		return err
	}
	slow, err := run(host.Model{Reader: host.ReaderStalled, Stall: b.sizes.stall})
	if err != nil {
		return err
	}
	b.figures.add("W3", program, map[string]float64{
		fastSeconds: fast.streamSeconds, stallSeconds: slow.streamSeconds, lost: slow.lost, rss: float64(slow.peakRSS),
	})
	return nil
}

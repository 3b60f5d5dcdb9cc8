package guard

import (
	"context"
	"fmt"

	"sluice/internal/bench/host"
	"sluice/internal/bench/measure"
	"sluice/internal/bench/verify"
)

// sessionMeter measures in a session of package measure.
type sessionMeter struct {
	*measure.Session
	peer []string
}

func openSession(ctx context.Context, options Options) (meter, error) {
	session, err := measure.Open(ctx, measure.Options{Engine: options.Engine, LoadServer: options.LoadServer})
	if err != nil {
		return nil, err
	}
	return &sessionMeter{session, options.Peer}, nil
}

// Round measures the groups. What was measured before an error is returned with it.
func (m *sessionMeter) Round(ctx context.Context, groups []string, round int, sizes Sizes) (readings []Reading, err error) {
	measures := map[string]func(context.Context, int, Sizes) ([]Reading, error){
		"W1": m.throughput, "W2": m.paced, "W3": m.stalled, "W5": m.pings,
	}
	for _, group := range groups {
		of, err := measures[group](ctx, round, sizes)
		if err != nil {
			return readings, fmt.Errorf("%s: %w", group, err)
		}
		readings = append(readings, of...)
	}
	return readings, nil
}

// inTurn makes each run once and starts with another one each round, so that what changes while a
// round lasts doesn't always fall on the same.
func inTurn(round int, runs ...func() error) error {
	for i := range runs {
		if err := runs[(round+i)%len(runs)](); err != nil {
			return err
		}
	}
	return nil
}

// run returns a function that measures a load in the engine and keeps the result.
func (m *sessionMeter) run(ctx context.Context, l measure.Load, result **measure.Result) func() error {
	return func() (err error) {
		*result, err = m.Session.Run(ctx, l)
		return err
	}
}

// runPeer does the same in the peer, which writes the load server's own frames.
func (m *sessionMeter) runPeer(ctx context.Context, l measure.Load, result **measure.Result) func() error {
	program := measure.Program{Path: m.peer[0], Format: verify.SSE}
	program.Args = append(append(program.Args, m.peer[1:]...), peerCopies, m.Address())
	return func() (err error) {
		*result, err = m.RunProgram(ctx, l, program)
		return err
	}
}

func (m *sessionMeter) throughput(ctx context.Context, round int, sizes Sizes) ([]Reading, error) {
	// a queue that never fills, so that nothing is dropped
	unbounded := fmt.Sprintf("queue_frames: %d, pending_bytes: 4GiB", sizes.Tokens+1024)
	var drop, coalesce, peer, again *measure.Result
	err := inTurn(round,
		m.run(ctx, measure.Load{Tokens: sizes.Tokens, Policy: "drop", Output: unbounded}, &drop),
		m.runPeer(ctx, measure.Load{Tokens: sizes.Tokens}, &peer),
		m.run(ctx, measure.Load{Tokens: sizes.Tokens, Policy: "coalesce"}, &coalesce),
		m.runPeer(ctx, measure.Load{Tokens: sizes.Tokens}, &again),
	)
	if err != nil {
		return nil, err
	}
	peer.Seconds = (peer.Seconds + again.Seconds) / 2
	peer.CPUSecondsPerMillion = (peer.CPUSecondsPerMillion + again.CPUSecondsPerMillion) / 2
	return joined(
		timeReading(DropTime, drop, peer), cpuReading(DropCPU, drop, peer),
		timeReading(CoalesceTime, coalesce, peer), cpuReading(CoalesceCPU, coalesce, peer),
	), nil
}

const pacedRate = 1000 // tokens per second

func (m *sessionMeter) paced(ctx context.Context, round int, sizes Sizes) ([]Reading, error) {
	load := measure.Load{Tokens: max(1, int(pacedRate*sizes.Paced.Seconds())), Rate: pacedRate}
	var engine, peer *measure.Result
	if err := inTurn(round, m.run(ctx, load, &engine), m.runPeer(ctx, load, &peer)); err != nil {
		return nil, err
	}
	return joined(
		reading(PacedP50, engine.Latency.P50, peer.Latency.P50, 1e3, "p50-ns"), cpuReading(PacedCPU, engine, peer),
	), nil
}

func (m *sessionMeter) stalled(ctx context.Context, round int, sizes Sizes) ([]Reading, error) {
	load := measure.Load{Tokens: sizes.SlowTokens, SlowFor: sizes.Stall}
	slow := load
	slow.Reader.Reader = host.ReaderStalled
	var fast, stalled *measure.Result
	if err := inTurn(round, m.run(ctx, load, &fast), m.run(ctx, slow, &stalled)); err != nil {
		return nil, err
	}
	return reading(StalledTime, stalled.StreamSeconds, fast.StreamSeconds, 1e9, "stream-ns"), nil
}

func timeReading(figure string, engine, peer *measure.Result) []Reading {
	return reading(figure, engine.Seconds/float64(engine.Sent), peer.Seconds/float64(peer.Sent), 1e9, "ns/event")
}

func cpuReading(figure string, engine, peer *measure.Result) []Reading {
	return reading(figure, engine.CPUSecondsPerMillion, peer.CPUSecondsPerMillion, 1e3, "cpu-ns/event")
}

// reading returns no figure at all where one of the values isn't known, as CPU time outside of Linux.
func reading(figure string, engine, peer, scale float64, unit string) []Reading {
	if engine <= 0 || peer <= 0 {
		return nil
	}
	return []Reading{{figure, engine / peer, engine * scale, unit}}
}

func joined(readings ...[]Reading) (all []Reading) {
	for _, some := range readings {
		all = append(all, some...)
	}
	return all
}

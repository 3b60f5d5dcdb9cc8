package guard

import (
	"context"
	"errors"

	"sluice/internal/bench/clock"
	"sluice/internal/bench/host"
	"sluice/internal/bench/latency"
	"sluice/internal/bench/measure"
	"sluice/internal/bench/verify"
)

const ping = `{"id":"1","method":"ping","params":{}}` + "\n"

func (m *sessionMeter) pings(ctx context.Context, round int, sizes Sizes) ([]Reading, error) {
	var engine, peer float64 // us
	err := inTurn(round,
		func() (err error) {
			engine, err = m.enginePings(ctx, sizes.Pings)
			return err
		},
		func() (err error) {
			peer, err = m.peerPings(ctx, sizes.Pings)
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	return reading(PingP50, engine, peer, 1e3, "p50-ns"), nil
}

func (m *sessionMeter) enginePings(ctx context.Context, count int) (float64, error) {
	engine, err := m.StartEngine(ctx, measure.Load{})
	if err != nil {
		return 0, err
	}
	defer engine.Kill()
	return roundTrips(ctx, engine.Process, count, verify.NewReplies)
}

func (m *sessionMeter) peerPings(ctx context.Context, count int) (float64, error) {
	arguments := append(append([]string{}, m.peer[1:]...), peerEchoes)
	peer, err := m.Start(ctx, verify.NewEchoes(1), m.peer[0], arguments...)
	if err != nil {
		return 0, err
	}
	defer peer.Kill()
	return roundTrips(ctx, peer, count, verify.NewEchoes)
}

// roundTrips sends pings one after another, returns the median of their times in microseconds and
// ends the program.
func roundTrips(ctx context.Context, p *host.Process, count int, expect func(int) *verify.Replies) (float64, error) {
	times := latency.New()
	for range count {
		replies := expect(1)
		p.Listen(replies)
		begun := clock.Now()
		if _, err := p.Write([]byte(ping)); err != nil {
			return 0, err
		}
		if err := p.Await(ctx, replies.Done()); err != nil {
			return 0, err
		}
		_, at, err := replies.Last()
		if err != nil {
			return 0, err
		}
		times.Record(at - begun)
	}
	return times.Microseconds(0.5), errors.Join(ctx.Err(), p.Close())
}

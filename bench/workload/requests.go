package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"time"

	"sluice/internal/bench/clock"
	"sluice/internal/bench/host"
	"sluice/internal/bench/latency"
	"sluice/internal/bench/measure"
	"sluice/internal/bench/verify"
)

// requestsWorkload is W5: how soon and how fast small requests are answered.
func requestsWorkload(sizes Sizes) Workload {
	return Workload{
		ID:    "W5",
		Title: fmt.Sprintf("%d spawns, %d sequential pings, %d pipelined pings", sizes.Spawns, sizes.Pings, sizes.Pipelined),
		Goals: []Goal{
			{"engine", "spawn_ping_ms", 30, false},
			{"engine", "ping_ratio", 3, false},
			{"engine", "pipelined_pings/s", 200_000, true},
		},
		Round: func(ctx context.Context, b *Bench) ([]Row, error) { return requestsRound(ctx, b, sizes) },
	}
}

func requestsRound(ctx context.Context, b *Bench, sizes Sizes) ([]Row, error) {
	spawns, err := b.spawnToPing(ctx, sizes.Spawns)
	if err != nil {
		return nil, fmt.Errorf("spawn: %w", err)
	}
	engine, err := b.roundTrips(ctx, sizes.Pings)
	if err != nil {
		return nil, fmt.Errorf("pings: %w", err)
	}
	cat, err := b.catRoundTrips(ctx, sizes.Pings)
	if err != nil {
		return nil, fmt.Errorf("cat: %w", err)
	}
	rate, err := b.pipelinedPings(ctx, sizes.Pipelined)
	if err != nil {
		return nil, fmt.Errorf("pipelined pings: %w", err)
	}
	demo, err := b.demoFirstToken(ctx, max(1, sizes.Spawns/4))
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return []Row{
		{"engine", []Metric{
			{"spawn_ping_ms", spawns.Microseconds(0.5) / 1e3},
			{"ping_p50_us", engine.Microseconds(0.5)},
			{"ping_p99_us", engine.Microseconds(0.99)},
			{"ping_ratio", engine.Microseconds(0.5) / cat.Microseconds(0.5)},
			{"pipelined_pings/s", rate},
			{"demo_first_token_ms", demo.Microseconds(0.5) / 1e3},
		}},
		{"cat", []Metric{
			{"ping_p50_us", cat.Microseconds(0.5)},
			{"ping_p99_us", cat.Microseconds(0.99)},
			{"ping_ratio", 1},
		}},
	}, nil
}

func appendPing(dst []byte, id int) []byte {
	dst = append(dst, `{"id":"`...)
	dst = strconv.AppendInt(dst, int64(id), 10)
	return append(dst, `","method":"ping","params":{}}`+"\n"...)
}

// spawnToPing returns the time from each start of an engine to its first answer.
func (b *Bench) spawnToPing(ctx context.Context, count int) (*latency.Histogram, error) {
	config, err := b.WriteConfig(b.Attached(), measure.Load{})
	if err != nil {
		return nil, err
	}
	times := latency.New()
	for range count {
		replies := verify.NewReplies(1)
		started, err := b.spawn(ctx, []string{"serve-stdio", "--config", config}, string(appendPing(nil, 1)), replies, replies.Done())
		if err != nil {
			return nil, err
		}
		_, at, err := replies.Last()
		if err != nil {
			return nil, err
		}
		times.Record(at - started)
	}
	return times, nil
}

// demoFirstToken returns the time from each start of an engine with its embedded model to the
// first token of a chat.
func (b *Bench) demoFirstToken(ctx context.Context, count int) (*latency.Histogram, error) {
	config, err := b.WriteConfig("", measure.Load{})
	if err != nil {
		return nil, err
	}
	times := latency.New()
	for range count {
		first := verify.NewFirst(`"llm_chunk"`)
		started, err := b.spawn(ctx, []string{"serve-stdio", "--demo", "--config", config}, measure.ChatLine("1", "Say something."), first, first.Found())
		if err != nil {
			return nil, err
		}
		_, at := first.Line()
		times.Record(at - started)
	}
	return times, nil
}

// spawn starts the engine, writes the input, waits until done is closed, ends the engine and returns
// when it was started.
func (b *Bench) spawn(ctx context.Context, arguments []string, input string, lines host.LineReader, done <-chan struct{}) (int64, error) {
	p, err := b.Start(ctx, lines, b.EnginePath(), arguments...)
	if err != nil {
		return 0, err
	}
	defer p.Kill()
	if _, err := io.WriteString(p, input); err != nil {
		return 0, err
	}
	if err := p.Await(ctx, done); err != nil {
		return 0, err
	}
	return p.StartedAt, p.Close()
}

func (b *Bench) roundTrips(ctx context.Context, count int) (*latency.Histogram, error) {
	e, err := b.StartEngine(ctx, measure.Load{})
	if err != nil {
		return nil, err
	}
	defer e.Kill()
	times, err := roundTrips(ctx, e.Process, count, verify.NewReplies)
	return times, errors.Join(err, e.Close())
}

// catRoundTrips measures what the two pipes and the wake-ups alone cost.
func (b *Bench) catRoundTrips(ctx context.Context, count int) (*latency.Histogram, error) {
	cat, err := exec.LookPath("cat")
	if err != nil {
		return nil, err
	}
	p, err := b.Start(ctx, verify.NewEchoes(1), cat)
	if err != nil {
		return nil, err
	}
	defer p.Kill()
	times, err := roundTrips(ctx, p, count, verify.NewEchoes)
	return times, errors.Join(err, p.Close())
}

// roundTrips sends pings one after another and returns how long each took.
func roundTrips(ctx context.Context, p *host.Process, count int, expect func(int) *verify.Replies) (*latency.Histogram, error) {
	ping := appendPing(nil, 1)
	times := latency.New()
	for range count {
		replies := expect(1)
		p.Listen(replies)
		begun := clock.Now()
		if _, err := p.Write(ping); err != nil {
			return nil, err
		}
		if err := p.Await(ctx, replies.Done()); err != nil {
			return nil, err
		}
		_, at, err := replies.Last()
		if err != nil {
			return nil, err
		}
		times.Record(at - begun)
	}
	return times, nil
}

// pipelinedPings sends all pings without waiting and returns the answers per second.
func (b *Bench) pipelinedPings(ctx context.Context, count int) (float64, error) {
	e, err := b.StartEngine(ctx, measure.Load{})
	if err != nil {
		return 0, err
	}
	defer e.Kill()
	var input []byte
	for id := 1; id <= count; id++ {
		input = appendPing(input, id)
	}
	replies := verify.NewReplies(count)
	e.Listen(replies)
	begun := clock.Now()
	written := make(chan error, 1)
	go func() {
		_, err := e.Write(input)
		written <- err
	}()
	if err := e.Await(ctx, replies.Done()); err != nil {
		e.Kill()
		return 0, errors.Join(err, <-written)
	}
	_, at, err := replies.Last()
	if err := errors.Join(err, <-written, e.Close()); err != nil {
		return 0, err
	}
	return float64(count) / time.Duration(at-begun).Seconds(), nil
}

package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice/internal/bench/host"
	"sluice/internal/bench/measure"
	"sluice/internal/bench/report"
	"sluice/internal/bench/tokens"
	"sluice/internal/config"
)

const (
	// benchSampleEvery is how often the charts over time get a point.
	benchSampleEvery = 50 * time.Millisecond
	// benchRounds is how often streams that are compared are measured.
	benchRounds = 5
	// againSlowFor is how long readers are slow in the later rounds, or as long as the stream takes.
	againSlowFor = 300 * time.Millisecond
	// unpacedTokens is how long a stream without a rate is when nothing says how long.
	unpacedTokens = 2_000_000
	// pacedSeconds is how much of a given rate is measured when nothing says how much.
	pacedSeconds = 10
	// ownServerTokens is how long an answer of the user's own server is when nothing says how long.
	ownServerTokens = 512

	// ownServerWidth is about how many bytes of text a token of a real model has.
	ownServerWidth = 4
	// slowUnpaced is a rate that no machine is expected to fall below when nothing paces a stream.
	slowUnpaced = 100_000

	// The rate and length of the run that tells the latency where the others are unpaced.
	probeRate   = 1000
	probeTokens = 2000
)

// benchLoad is one run of a benchmark.
type benchLoad struct {
	label string
	// again is another round of a load that was measured before, for its stream time alone.
	again bool
	measure.Load
}

// plan returns the loads to go through, or an error that tells what to change.
func (f *benchFlags) plan(ownServer bool) (loads []benchLoad, err error) {
	switch {
	case f.streams < 1:
		return nil, fmt.Errorf("--streams: %d is less than 1", f.streams)
	case f.tokens < 0:
		return nil, fmt.Errorf("--tokens: %d is less than nothing", f.tokens)
	case f.duration < 0 || f.slow <= 0:
		return nil, errors.New("--duration and --stall: give a time above nothing, such as 10s")
	case f.rate > 0 && ownServer:
		return nil, errors.New("--rate: your own server sets its pace; leave out --rate, or --url and --config")
	}
	seen := map[string]bool{}
	for _, name := range f.readers {
		name = strings.TrimSpace(name)
		l := f.load(name, ownServer)
		if err := l.Check(); err != nil {
			return nil, err
		}
		if name == "" || seen[name] {
			return nil, fmt.Errorf("--reader: give each of %s once at most", strings.Join(host.Readers, ", "))
		}
		seen[name] = true
		loads = append(loads, benchLoad{label: name, Load: l})
	}
	if len(loads) == 0 {
		return nil, fmt.Errorf("--reader: give at least one of %s", strings.Join(host.Readers, ", "))
	}
	if ownServer {
		return loads, nil
	}
	if f.rate == 0 && f.duration == 0 && seen[host.ReaderFast] && len(loads) > 1 {
		loads = append(loads, moreRounds(loads)...)
	}
	if !f.paced {
		loads = append(loads, f.probe())
	}
	return loads, nil
}

// moreRounds measures the loads again, interleaved, since streams that nothing paces differ by what
// else the machine does. A reader then need not be slow for longer than the stream takes.
func moreRounds(loads []benchLoad) (more []benchLoad) {
	for range benchRounds - 1 {
		for _, l := range loads {
			l.again = true
			l.Reader.Stall = l.SlowFor // of the first round; the stall ends with the stream
			l.SlowFor = min(l.SlowFor, againSlowFor)
			more = append(more, l)
		}
	}
	return more
}

func (f *benchFlags) load(reader string, ownServer bool) measure.Load {
	l := measure.Load{
		Tokens: f.tokens, Rate: f.rate, Streams: f.streams,
		Reader:  host.Model{Reader: reader},
		SlowFor: f.slow, SocketPair: f.sockets, Policy: f.policy, SampleEvery: benchSampleEvery,
	}
	switch {
	case ownServer:
		l.Prompt = f.prompt
		if l.Tokens == 0 {
			l.Tokens = ownServerTokens
		}
		l.Reader.CloseAfter = l.Tokens*ownServerWidth/4 + 1
		return l // --duration ends the run, since nothing ends the server's stream
	case f.tokens > 0 || f.duration > 0:
	case f.rate > 0:
		l.Tokens = max(1, int(min(f.rate*pacedSeconds, tokens.Limit)))
	default:
		l.Tokens = unpacedTokens
	}
	l.During = f.duration
	l.MayLose = mayLose(l)
	l.Reader.CloseAfter = min(1<<20, leastTokens(l)*tokens.PlainWidth/4+1)
	return l
}

// leastTokens is about how many tokens come at least: a reader that goes away has to do so before they
// are over.
func leastTokens(l measure.Load) int {
	if l.During == 0 {
		return l.Tokens
	}
	rate := l.Rate
	if rate == 0 {
		rate = slowUnpaced
	}
	inTime := int(min(rate*l.During.Seconds(), tokens.Limit))
	if l.Tokens == 0 {
		return inTime
	}
	return min(l.Tokens, inTime)
}

// mayLose reports whether a slow reader may leave more text unread than the engine keeps. Of a stream
// that only its time ends nobody knows before.
func mayLose(l measure.Load) bool {
	return l.Reader.Slow() && (l.Tokens == 0 || beyondBound(l, l.Tokens*l.Streams))
}

// beyondBound reports whether tokens are about as much text as the engine keeps for a reader.
func beyondBound(l measure.Load, count int) bool {
	width := tokens.PlainWidth
	if l.Rate > 0 {
		width = tokens.TimedWidth
	}
	return int64(count)*int64(width) > config.Default().Output.PendingBytes*9/10
}

// probe tells how late tokens are at a rate that an engine isn't busy at.
func (f *benchFlags) probe() benchLoad {
	l := f.load(host.ReaderFast, false)
	l.Streams, l.Rate, l.Tokens = 1, probeRate, probeTokens
	if f.tokens > 0 {
		l.Tokens = min(f.tokens, probeTokens)
	}
	return benchLoad{label: fmt.Sprintf("fast at %d/s", probeRate), Load: l}
}

// newReport returns a report without runs.
func (f *benchFlags) newReport(target benchTarget) *report.Report {
	r := &report.Report{
		Format: report.Format, Engine: version, Machine: report.ThisMachine(), Started: time.Now().Truncate(time.Second),
		Server: report.BuiltIn, Runs: []*report.Run{},
		Setting: report.Setting{
			Rate: f.rate, DurationSeconds: f.duration.Seconds(), SlowSeconds: f.slow.Seconds(),
			Streams: f.streams, Policy: f.policy, SocketPair: f.sockets,
		},
	}
	r.Setting.Tokens = f.load(host.ReaderFast, target.url != "").Tokens
	if target.url != "" {
		r.Server = target.url
	}
	return r
}

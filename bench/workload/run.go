package workload

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"sluice/bench/clock"
	"sluice/bench/host"
	"sluice/bench/load"
	"sluice/bench/roles"
	"sluice/bench/verify"
)

// run is what one measured stream through one program came to.
type run struct {
	elapsed       time.Duration // from the request to the receipt of the final line
	cpu           time.Duration // of the program in that time
	peakRSS       int64         // bytes
	linesPerWrite float64       // 0 when the program doesn't tell
	report        *verify.Report
	sent          load.StreamStats
}

func (r *run) perSecond(count int) float64 { return float64(count) / r.elapsed.Seconds() }

func (r *run) cpuPerToken() float64 { // microseconds
	return float64(r.cpu.Nanoseconds()) / 1e3 / float64(r.report.Tokens)
}

func (r *run) streamSeconds() float64 { return float64(r.sent.LastAt-r.sent.FirstAt) / 1e9 }

// latency returns a percentile in microseconds; fraction is between 0 and 1.
func (r *run) latency(fraction float64) float64 {
	return percentile(r.report.Latencies, fraction) / 1e3
}

// percentile sorts the values and returns the smallest that the given fraction doesn't exceed.
func percentile(values []int64, fraction float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return float64(values[min(len(values)-1, int(fraction*float64(len(values))))])
}

// demand is a stream to be measured.
type demand struct {
	tokens int
	rate   float64 // tokens per second, 0 for as fast as they are read
	output string  // the engine's output settings
	pace   host.Pace
}

func (d demand) steer() string {
	return "n=" + strconv.Itoa(d.tokens) + " rate=" + strconv.FormatFloat(d.rate, 'f', -1, 64)
}

func (d demand) expected() verify.Options {
	return verify.Options{ID: chatID, Tokens: d.tokens, Timed: d.rate > 0}
}

// runEngine measures one chat in a fresh engine. Anything lost or wrong is an error.
func (b *Bench) runEngine(ctx context.Context, d demand) (*run, error) {
	e, err := b.startEngine(ctx, d.output)
	if err != nil {
		return nil, err
	}
	defer e.Kill()
	framesBefore, batchesBefore, err := e.written(ctx)
	if err != nil {
		return nil, err
	}
	r, err := b.measure(ctx, e.Process, chatLine(d.steer()), verify.NewStream(d.expected()), d.pace)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	frames, batches, err := e.written(ctx)
	if err != nil {
		return nil, err
	}
	if batches > batchesBefore {
		r.linesPerWrite = (frames - framesBefore) / (batches - batchesBefore)
	}
	return r, e.Close()
}

// runLimit measures the limit, which writes as many bytes as the engine did.
func (b *Bench) runLimit(ctx context.Context, d demand, bytes int) (*run, error) {
	expected := d.expected()
	expected.Filled = true
	return b.runPeer(ctx, d, expected, b.self, roles.Limit, "-address", b.address,
		"-tokens", strconv.Itoa(d.tokens), "-bytes", strconv.Itoa(bytes))
}

// runCopier measures the copier, which writes the load server's own frames.
func (b *Bench) runCopier(ctx context.Context, d demand) (*run, error) {
	program, err := b.copierProgram(ctx)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(b.address)
	if err != nil {
		return nil, err
	}
	expected := d.expected()
	expected.Format = verify.SSE
	return b.runPeer(ctx, d, expected, program, port)
}

func (b *Bench) runPeer(ctx context.Context, d demand, expected verify.Options, program string, arguments ...string) (*run, error) {
	stream := verify.NewStream(expected)
	p, err := b.start(ctx, stream, program, arguments...)
	if err != nil {
		return nil, err
	}
	defer p.Kill()
	r, err := b.measure(ctx, p, httpRequest(d.steer()), stream, d.pace)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return r, p.Close()
}

// measure sends a request to a running program and takes the time and the CPU until its final line.
func (b *Bench) measure(ctx context.Context, p *host.Process, request string, stream *verify.Stream, pace host.Pace) (*run, error) {
	p.Listen(stream, pace)
	before, err := p.Usage()
	if err != nil {
		return nil, err
	}
	begun := clock.Now()
	if _, err := io.WriteString(p, request); err != nil {
		return nil, err
	}
	if err := p.Await(ctx, stream.Done()); err != nil {
		return nil, err
	}
	after, err := p.Usage()
	if err != nil {
		return nil, err
	}
	r := &run{cpu: after.CPU - before.CPU, peakRSS: after.PeakRSS, report: stream.Report()}
	r.elapsed = time.Duration(r.report.FinalAt - begun)
	if err := r.report.Err(); err != nil {
		return nil, err
	}
	r.sent, err = b.lastStream(ctx)
	if err == nil && (!r.sent.Complete || r.sent.Tokens != r.report.Tokens) {
		err = fmt.Errorf("%d tokens were received and %d sent, all read: %v", r.report.Tokens, r.sent.Tokens, r.sent.Complete)
	}
	return r, err
}

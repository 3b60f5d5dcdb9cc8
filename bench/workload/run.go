package workload

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"sluice/bench/roles"
	"sluice/internal/bench/clock"
	"sluice/internal/bench/host"
	"sluice/internal/bench/load"
	"sluice/internal/bench/verify"
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
	output string  // the engine's output settings, in YAML's flow style

	reader     host.Model
	slowFor    time.Duration // how long a slow reader stays slow at least
	socketPair bool
}

func (d demand) steer() string {
	return "n=" + strconv.Itoa(d.tokens) + " rate=" + strconv.FormatFloat(d.rate, 'f', -1, 64)
}

func (d demand) expected() verify.Options {
	return verify.Options{ID: chatID, Tokens: d.tokens, Timed: d.rate > 0, Cut: d.reader.Reader == host.ReaderClosed}
}

// runEngine measures one chat in a fresh engine. Anything lost or wrong is an error.
func (b *Bench) runEngine(ctx context.Context, d demand) (*run, error) {
	e, err := b.startEngineFor(ctx, d)
	if err != nil {
		return nil, err
	}
	defer e.Kill()
	framesBefore, batchesBefore, err := e.written(ctx)
	if err != nil {
		return nil, err
	}
	r, err := b.measure(ctx, e.Process, chatLine(d.steer()), verify.NewStream(d.expected()), d)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if d.reader.Reader == host.ReaderClosed {
		return r, b.serveUnread(ctx, e)
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
	r, err := b.measure(ctx, p, httpRequest(d.steer()), stream, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return r, p.Close()
}

// measure sends a request to a running program and takes the time and the CPU until its final line,
// or, where the reader goes away, until all was sent.
func (b *Bench) measure(ctx context.Context, p *host.Process, request string, stream *verify.Stream, d demand) (*run, error) {
	earlier, err := b.streams(ctx, 0)
	if err != nil {
		return nil, err
	}
	before, err := p.Usage()
	if err != nil {
		return nil, err
	}
	p.Listen(stream)
	p.SetPace(d.reader.Pace())
	begun := clock.Now()
	if _, err := io.WriteString(p, request); err != nil {
		return nil, err
	}
	if err := b.awaitEnd(ctx, p, stream, d, len(earlier)+1); err != nil {
		return nil, err
	}
	ended := clock.Now()
	after, err := p.Usage()
	if err != nil {
		return nil, err
	}
	r := &run{cpu: after.CPU - before.CPU, peakRSS: after.PeakRSS, report: stream.Report()}
	r.elapsed = time.Duration(cmp.Or(r.report.FinalAt, ended) - begun)
	if err := r.report.Err(); err != nil {
		return nil, err
	}
	streams, err := b.streams(ctx, len(earlier)+1)
	if err != nil {
		return nil, err
	}
	r.sent = streams[len(earlier)]
	return r, checkSent(r.sent, d.tokens)
}

func checkSent(sent load.StreamStats, wanted int) error {
	if !sent.Complete || sent.Tokens != wanted {
		return fmt.Errorf("%d of %d tokens were sent, all of it taken: %v", sent.Tokens, wanted, sent.Complete)
	}
	return nil
}

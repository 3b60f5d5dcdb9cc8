package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sluice/bench/roles"
	"sluice/internal/bench/clock"
	"sluice/internal/bench/host"
	"sluice/internal/bench/load"
	"sluice/internal/bench/measure"
	"sluice/internal/bench/verify"
)

const (
	// runTimeout ends a program that hangs; the slowest one takes less than two minutes.
	runTimeout = 10 * time.Minute
	// warmTokens are asked for before a peer is measured, so that its start and what it compiles
	// meanwhile aren't counted.
	warmTokens = 2000
)

// bench holds what all rounds share.
type bench struct {
	settings
	session *measure.Session
	client  *http.Client
	peers   []peer
	missing []string // interpreters
	runs    int      // of peers; names their streams
	figures figures
}

func open(ctx context.Context, s settings) (*bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if s.programs, err = filepath.Abs(s.programs); err != nil {
		return nil, err
	}
	session, err := measure.Open(ctx, measure.Options{Engine: s.engine, LoadServer: []string{self, roles.LoadServer}})
	if err != nil {
		return nil, err
	}
	b := &bench{settings: s, session: session, client: &http.Client{Transport: &http.Transport{}}}
	if b.peers, b.missing, err = findPeers(s.programs, session.Folder()); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bench) close() error {
	b.client.CloseIdleConnections()
	return b.session.Close()
}

// outcome is what one stream through one peer came to.
type outcome struct {
	eventsPerSecond float64 // that arrived
	cpu             float64 // microseconds an event that was sent
	streamSeconds   float64 // from the first to the last token that the load server sent
	lost            float64 // part of the text, 0 to 1
	peakRSS         int64   // bytes
}

// runPeer measures one stream in a fresh process.
func (b *bench) runPeer(ctx context.Context, p peer, count int, reader host.Model) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	url := "http://" + b.session.Address() + "/v1/chat/completions"
	arguments := append(append([]string{}, p.command[1:]...), url)
	process, err := b.session.Start(ctx, discard{}, p.command[0], arguments...)
	if err != nil {
		return outcome{}, err
	}
	defer process.Kill()
	if _, err := b.answer(ctx, process, warmTokens, host.Model{}); err != nil {
		return outcome{}, fmt.Errorf("%s: %w", p.name, err)
	}
	result, err := b.answer(ctx, process, count, reader)
	if err != nil {
		return outcome{}, fmt.Errorf("%s: %w", p.name, err)
	}
	return result, process.Close()
}

// answer has a running peer answer one request, whose stream bears the request's id.
func (b *bench) answer(ctx context.Context, p *host.Process, count int, reader host.Model) (o outcome, err error) {
	b.runs++
	name := "peer" + strconv.Itoa(b.runs)
	stream := verify.NewStream(verify.Options{ID: strconv.Quote(name), Lossy: true})
	before, err := p.Usage()
	if err != nil {
		return o, err
	}
	p.Listen(stream)
	p.SetPace(reader.Pace())
	begun := clock.Now()
	if _, err := io.WriteString(p, measure.ChatLine(name, fmt.Sprintf("n=%d name=%s", count, name))); err != nil {
		return o, err
	}
	if err := p.Await(ctx, stream.Done()); err != nil {
		return o, err
	}
	after, err := p.Usage()
	if err != nil {
		return o, err
	}
	p.Listen(discard{}) // waits until the stream has taken what came with its final line
	report := stream.Report(count)
	if err := report.Err(); err != nil {
		return o, err
	}
	sent, err := b.sent(ctx, name)
	if err != nil {
		return o, err
	}
	return outcome{
		eventsPerSecond: float64(report.Tokens) / (float64(report.FinalAt-begun) / 1e9),
		cpu:             float64((after.CPU - before.CPU).Nanoseconds()) / 1e3 / float64(count),
		streamSeconds:   float64(sent.LastAt-sent.FirstAt) / 1e9,
		lost:            float64(report.Lost) / float64(count),
		peakRSS:         after.PeakRSS,
	}, nil
}

// sent returns the load server's account of the stream with a name.
func (b *bench) sent(ctx context.Context, name string) (load.StreamStats, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.session.Address()+"/bench/streams", nil)
	if err != nil {
		return load.StreamStats{}, err
	}
	response, err := b.client.Do(request)
	if err != nil {
		return load.StreamStats{}, err
	}
	defer response.Body.Close()
	var streams []load.StreamStats
	if err := json.NewDecoder(response.Body).Decode(&streams); err != nil {
		return load.StreamStats{}, err
	}
	for _, stream := range streams {
		if stream.Name == name {
			return stream, nil
		}
	}
	return load.StreamStats{}, fmt.Errorf("the load server knows no stream %q", name)
}

// discard takes what comes before a request.
type discard struct{}

func (discard) ReadLines([]byte, int64) {}

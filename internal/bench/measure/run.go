package measure

import (
	"context"
	"errors"
	"fmt"

	"sluice/internal/bench/clock"
	"sluice/internal/bench/host"
	"sluice/internal/bench/load"
	"sluice/internal/bench/verify"
)

// Run measures a load in a fresh engine. Anything lost or wrong is an error.
func (s *Session) Run(ctx context.Context, l Load) (*Result, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if s.ownServer() {
		if l.Rate > 0 || l.During > 0 {
			return nil, errors.New("a server of your own sends at its own rate and until it is done: leave out the rate and the duration")
		}
		l.maxTokens = l.Tokens
	}
	l = l.withDefaults()
	e, err := s.StartEngine(ctx, l)
	if err != nil {
		return nil, err
	}
	defer e.Kill()
	before, err := e.Counters(ctx)
	if err != nil {
		return nil, err
	}
	var requests []byte
	for index := range l.Streams {
		requests = append(requests, ChatLine(chatName(index), s.input(l, index))...)
	}
	r, err := s.follow(ctx, e.Process, l, requests, verify.Options{})
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	switch {
	case l.closes() && s.ownServer():
		return r, e.Close()
	case l.closes():
		return r, s.serveUnread(ctx, e)
	}
	after, err := e.Counters(ctx)
	if err != nil {
		return nil, err
	}
	r.Engine = after.since(before)
	if int64(r.Lost) > r.Engine.Dropped {
		return nil, fmt.Errorf("engine: %d tokens are missing and %d events dropped", r.Lost, r.Engine.Dropped)
	}
	return r, e.Close()
}

func (s *Session) input(l Load, index int) string {
	if s.ownServer() {
		return l.Prompt
	}
	return l.steer(chatName(index))
}

// Program is a program in the engine's place, which takes one HTTP request for the load server on its
// stdin and answers it on its stdout.
type Program struct {
	Path   string
	Args   []string
	Format verify.Format
	Filled bool // its final line is padding
}

// RunProgram measures a load of one stream in another program.
func (s *Session) RunProgram(ctx context.Context, l Load, program Program) (*Result, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	l = l.withDefaults()
	p, err := s.start(ctx, host.Options{
		Path: program.Path, Args: program.Args, SocketPair: l.SocketPair,
		Lines: verify.NewFirst(""), // until the load begins
	})
	if err != nil {
		return nil, err
	}
	defer p.Kill()
	request := httpRequest(l.steer(chatName(0)))
	r, err := s.follow(ctx, p, l, []byte(request), verify.Options{Format: program.Format, Filled: program.Filled})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program.Path, err)
	}
	return r, p.Close()
}

// follow sends requests to a running program and accounts for what it takes until its final lines,
// or, where the reader goes away, until all was sent.
func (s *Session) follow(ctx context.Context, p *host.Process, l Load, requests []byte, expected verify.Options) (*Result, error) {
	expected.Timed = l.Rate > 0 && !s.ownServer()
	expected.FreeText = s.ownServer()
	expected.Cut = l.closes()
	expected.Lossy = l.Policy == "drop" || l.MayLose
	a := newAudience(l, expected)
	earlier, err := s.streams(ctx, 0)
	if err != nil {
		return nil, err
	}
	usage, err := p.Usage()
	if err != nil {
		return nil, err
	}
	p.Listen(a.lines)
	p.SetPace(l.Reader.Pace())
	m := moment{begun: clock.Now(), before: usage}
	samples := s.startSampler(ctx, l, a, m.begun, total(earlier))
	_, err = p.Write(requests)
	if err == nil {
		err = s.awaitEnd(ctx, p, a, l, len(earlier)+l.Streams)
	}
	m.ended, m.samples = clock.Now(), samples.finish()
	if err != nil {
		return nil, err
	}
	if m.after, err = p.Usage(); err != nil {
		return nil, err
	}
	sent, err := s.sentStreams(ctx, len(earlier), l)
	if err != nil {
		return nil, err
	}
	reports, err := a.reports(sent)
	if err != nil {
		return nil, err
	}
	return newResult(l, m, reports, sent, a.latency), nil
}

func total(streams []load.StreamStats) (tokens int64) {
	for _, stream := range streams {
		tokens += int64(stream.Tokens)
	}
	return tokens
}

// httpRequest is the request of programs that speak to the load server themselves.
func httpRequest(steer string) string {
	body := `{"messages":[{"role":"user","content":"` + steer + `"}],"model":"default","stream":true,` +
		`"stream_options":{"include_usage":true}}`
	return "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" +
		fmt.Sprintf("Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/bench/load"
	"sluice/internal/config"
	"sluice/pipeline"
)

// turnsWorld is an engine of this process between a load server and two pipes.
type turnsWorld struct {
	b     *testing.B
	in    *os.File
	lines *bufio.Reader
	ended chan struct{}
}

// loadServer starts a server that answers as fast as it is read.
func loadServer(b *testing.B) string {
	b.Helper()
	server, err := load.Listen()
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	b.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return "http://" + server.Address()
}

// newTurnsWorld starts the engine; without sessions each chat starts afresh and nothing is stored.
func newTurnsWorld(b *testing.B, url string, sessions bool) *turnsWorld {
	b.Helper()
	loaded := &config.Loaded{Config: config.Default(), Found: true}
	c := &loaded.Config
	c.LlamaServer.URL, c.App.DataDir, c.App.MaxParallelChats, c.Memory.Enabled = url, b.TempDir(), 64, false
	c.Models = []config.Model{{Name: "m"}}
	c.Agents = []config.Agent{{Name: "a", Model: "m", MaxSteps: 8, Tools: []string{"*"}}}
	log := slog.New(slog.DiscardHandler)
	inspection, err := newInspection(c, log)
	if err != nil {
		b.Fatal(err)
	}
	in, host := pipe(b)
	reader, out := pipe(b)
	back, turns := newBackend(c, log), executeOptions(loaded, log)
	if turns.Tools = back.tools; sessions {
		turns.Sessions = sessionPort{back.sessions}
	}
	engine := join(context.Background(), c, streams{in, out, io.Discard}, log, inspection, back, turns, pipeline.NDJSON(int(c.Input.MaxLineBytes), c.Output.ASCII))
	w := &turnsWorld{b: b, in: host, lines: bufio.NewReaderSize(reader, 64<<10), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		if _, err := engine.Run(context.Background()); err != nil {
			b.Error(err)
		}
		_ = out.Close()
	}()
	b.Cleanup(func() {
		_ = host.Close()
		_, _ = io.Copy(io.Discard, w.lines)
		<-w.ended
	})
	return w
}

func pipe(b *testing.B) (reader, writer *os.File) {
	b.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = reader.Close(); _ = writer.Close() })
	return reader, writer
}

// chats runs chats at once and waits for their results.
func (w *turnsWorld) chats(count, tokens int) time.Duration {
	var requests strings.Builder
	for i := range count {
		fmt.Fprintf(&requests, `{"id":%d,"method":"chat","params":{"input":"n=%d"}}`+"\n", i, tokens)
	}
	began := time.Now()
	if _, err := io.WriteString(w.in, requests.String()); err != nil {
		w.b.Fatal(err)
	}
	for left := count; left > 0; {
		line, err := w.lines.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull: // the rest of a long line follows
		case err != nil:
			w.b.Fatal(err)
		case bytes.Contains(line[:min(len(line), 64)], []byte(`"type":"error"`)):
			w.b.Fatalf("%s", line)
		case bytes.Contains(line[:min(len(line), 64)], []byte(`"type":"result"`)):
			left--
		}
		if err == bufio.ErrBufferFull && bytes.Contains(line[:64], []byte(`"type":"result"`)) {
			left--
		}
	}
	return time.Since(began)
}

// direct asks the server itself for the same stream and reads it to its end.
func direct(b *testing.B, client *http.Client, url string, tokens int) time.Duration {
	body := fmt.Sprintf(`{"messages":[{"role":"user","content":"n=%d"}],"stream":true}`, tokens)
	began := time.Now()
	response, err := client.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return time.Since(began)
}

// BenchmarkTurn measures what the engine adds to a model step without tools: the time from request to
// result, beyond that of the same stream read from the server alone. The medians of interleaved chats.
func BenchmarkTurn(b *testing.B) {
	url := loadServer(b)
	w := newTurnsWorld(b, url, true)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	w.chats(1, 20) // opens the file
	var through, alone []time.Duration
	for b.Loop() {
		for range 20 {
			through, alone = append(through, w.chats(1, 20)), append(alone, direct(b, client, url, 20))
		}
	}
	b.ReportMetric(milliseconds(median(through)-median(alone)), "ms/step-added")
	b.ReportMetric(milliseconds(median(alone)), "ms/step-server")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSessions compares 64 chats at once with and without sessions, interleaved. Long chats are those
// of W4, which measures the main job: 4,000,000 tokens in all; of short ones the store's share is larger.
func BenchmarkSessions(b *testing.B) {
	b.Run("long", func(b *testing.B) { compareSessions(b, 4_000_000/64) })
	b.Run("short", func(b *testing.B) { compareSessions(b, 5000) })
}

func compareSessions(b *testing.B, tokens int) {
	const count = 64
	url := loadServer(b)
	with, without := newTurnsWorld(b, url, true), newTurnsWorld(b, url, false)
	with.chats(1, 20)
	without.chats(1, 20)
	var stored, plain []time.Duration
	for b.Loop() {
		plain, stored = append(plain, without.chats(count, tokens)), append(stored, with.chats(count, tokens))
	}
	b.ReportMetric(median(plain).Seconds()/median(stored).Seconds(), "of-the-rate-without")
	b.ReportMetric(float64(count*tokens)/median(stored).Seconds()/1e6, "Mtokens/s")
	b.ReportMetric(0, "ns/op")
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

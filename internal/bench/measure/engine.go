package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"

	"sluice/internal/bench/host"
	"sluice/internal/bench/verify"
)

// Engine is a running engine that has answered the handshake.
type Engine struct {
	*host.Process
}

// StartEngine starts the engine with the settings and the ends that a load asks for. The caller
// closes or kills it.
func (s *Session) StartEngine(ctx context.Context, l Load) (*Engine, error) {
	config, err := s.WriteConfig(s.attached(l), l)
	if err != nil {
		return nil, err
	}
	replies := verify.NewReplies(1)
	process, err := s.start(ctx, host.Options{
		Path: s.options.Engine, Args: []string{"serve-stdio", "--config", config},
		Env: s.options.Env, SocketPair: l.SocketPair, Lines: replies,
	})
	if err != nil {
		return nil, err
	}
	e := &Engine{Process: process}
	if _, err := e.ask(ctx, replies, `"method":"initialize","params":{"protocol_versions":[1]}`); err != nil {
		e.Kill()
		return nil, fmt.Errorf("initialize: %w", err)
	}
	return e, nil
}

// Attached is the part of a configuration that attaches the engine to the session's server.
func (s *Session) Attached() string { return s.attached(Load{}) }

func (s *Session) attached(l Load) string {
	return "llama_server: {url: " + quote(s.url) + "}\nmodels: [{name: default}]\n" +
		fmt.Sprintf("agents: [{name: assistant, model: default, max_tokens: %d}]\n", l.maxTokens)
}

// WriteConfig writes a configuration with a data folder of its own and returns its path. The model
// part may be empty.
func (s *Session) WriteConfig(model string, l Load) (string, error) {
	folder, err := os.MkdirTemp(s.folder, "engine-")
	if err != nil {
		return "", err
	}
	app := "data_dir: " + quote(filepath.ToSlash(folder))
	if l.Streams > 1 {
		app += fmt.Sprintf(", max_parallel_chats: %d", l.Streams)
	}
	text := model + "memory: {enabled: false}\napp: {" + app + "}\n"
	output := l.Output
	if l.Policy != "" {
		output = joined("on_full: "+l.Policy, output)
	}
	if output != "" {
		text += "output: {" + output + "}\n"
	}
	path := filepath.Join(folder, "config.yaml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

func joined(first, second string) string {
	if second == "" {
		return first
	}
	return first + ", " + second
}

// ask sends a request whose only reply goes to replies, and returns that.
func (e *Engine) ask(ctx context.Context, replies *verify.Replies, members string) (string, error) {
	e.Listen(replies)
	if _, err := io.WriteString(e, `{"id":"1",`+members+"}\n"); err != nil {
		return "", err
	}
	if err := e.Await(ctx, replies.Done()); err != nil {
		return "", err
	}
	line, _, err := replies.Last()
	return line, err
}

// Counters are what the engine itself counted, of its method stats.
type Counters struct {
	Frames         int64   `json:"frames"`
	Writes         int64   `json:"writes"` // write calls
	Merged         int64   `json:"merged"`
	Dropped        int64   `json:"dropped"`
	LargestQueue   int64   `json:"largest_queue_bytes"` // that ever waited in it
	ReaderStalls   int64   `json:"reader_stalls"`
	ReaderStalledS float64 `json:"reader_stalled_s"` // blocked in write for longer than its threshold
}

// Counters asks the engine for what it counted since its start.
func (e *Engine) Counters(ctx context.Context) (Counters, error) {
	line, err := e.ask(ctx, verify.NewReplies(1), `"method":"stats","params":{}`)
	if err != nil {
		return Counters{}, fmt.Errorf("stats: %w", err)
	}
	stats := gjson.Get(line, "result")
	return Counters{
		Frames:         stats.Get("written.frames").Int(),
		Writes:         stats.Get("written.batches").Int(),
		Merged:         stats.Get("merged").Int(),
		Dropped:        stats.Get("dropped").Int(),
		LargestQueue:   stats.Get("queue.max_bytes").Int(),
		ReaderStalls:   stats.Get("stalls.reader.count").Int(),
		ReaderStalledS: stats.Get("stalls.reader.ms").Float() / 1e3,
	}, nil
}

// since returns what was counted after the earlier Counters. The largest queue stays the largest.
func (c Counters) since(earlier Counters) *Counters {
	c.Frames -= earlier.Frames
	c.Writes -= earlier.Writes
	c.Merged -= earlier.Merged
	c.Dropped -= earlier.Dropped
	c.ReaderStalls -= earlier.ReaderStalls
	c.ReaderStalledS -= earlier.ReaderStalledS
	return &c
}

// ChatLine returns a chat request. The name becomes its id.
func ChatLine(name, input string) string {
	return `{"id":` + quote(name) + `,"method":"chat","params":{"input":` + quote(input) + "}}\n"
}

// quote returns text as a JSON string, which YAML reads too.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("measure: a string that is no JSON: " + err.Error()) // there is none
	}
	return string(quoted)
}

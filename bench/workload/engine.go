package workload

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/bench/host"
	"sluice/internal/bench/verify"
)

// chatID is the JSON text of the id of measured chats.
const chatID = `"1"`

// engine is a running engine that has answered the handshake.
type engine struct {
	*host.Process
}

// startEngine starts the engine with the default settings.
func (b *Bench) startEngine(ctx context.Context) (*engine, error) {
	return b.startEngineFor(ctx, demand{})
}

// startEngineFor starts the engine with the output settings and the ends that are asked for.
func (b *Bench) startEngineFor(ctx context.Context, d demand) (*engine, error) {
	config, err := b.writeConfig(b.attached(), d.output)
	if err != nil {
		return nil, err
	}
	replies := verify.NewReplies(1)
	process, err := b.startWith(ctx, b.options.SocketPair || d.socketPair, replies, b.options.Engine, "serve-stdio", "--config", config)
	if err != nil {
		return nil, err
	}
	e := &engine{Process: process}
	if _, err := e.ask(ctx, replies, `"method":"initialize","params":{"protocol_versions":[1]}`); err != nil {
		e.Kill()
		return nil, err
	}
	return e, nil
}

// attached is the part of a configuration that attaches the engine to the load server.
func (b *Bench) attached() string {
	return "llama_server: {url: \"http://" + b.address + "\"}\n" +
		"models: [{name: default}]\nagents: [{name: assistant, model: default}]\n"
}

// writeConfig writes a configuration with a data folder of its own and returns its path. The model
// part and the output settings may be empty.
func (b *Bench) writeConfig(model, output string) (string, error) {
	folder, err := os.MkdirTemp(b.folder, "engine-")
	if err != nil {
		return "", err
	}
	text := model + "memory: {enabled: false}\napp: {data_dir: \"" + filepath.ToSlash(folder) + "\"}\n"
	if output != "" {
		text += "output: {" + output + "}\n"
	}
	path := filepath.Join(folder, "config.yaml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// ask sends a request whose only reply goes to replies, and returns that.
func (e *engine) ask(ctx context.Context, replies *verify.Replies, members string) (string, error) {
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

// written tells how many frames and how many batches the engine has written.
func (e *engine) written(ctx context.Context) (frames, batches float64, err error) {
	line, err := e.ask(ctx, verify.NewReplies(1), `"method":"stats","params":{}`)
	if err != nil {
		return 0, 0, fmt.Errorf("stats: %w", err)
	}
	written := gjson.Get(line, "result.written")
	return written.Get("frames").Float(), written.Get("batches").Float(), nil
}

func chatLine(input string) string { return chatLineAs(chatID, input) }

// chatLineAs returns a chat request with an id given as JSON text.
func chatLineAs(id, input string) string {
	return `{"id":` + id + `,"method":"chat","params":{"input":"` + input + `"}}` + "\n"
}

// httpRequest is the request of peers that speak to the load server themselves.
func httpRequest(steer string) string {
	body := `{"messages":[{"role":"user","content":"` + steer + `"}],"model":"default","stream":true,` +
		`"stream_options":{"include_usage":true}}`
	return strings.Join([]string{
		"POST /v1/chat/completions HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json",
		"Connection: close", fmt.Sprintf("Content-Length: %d", len(body)), "", body,
	}, "\r\n")
}

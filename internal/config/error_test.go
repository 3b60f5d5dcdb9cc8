package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const size = "must be a size such as 64KiB, 16MiB or a number of bytes"
const duration = "must be a duration such as 250ms, 30s or 2m"
const serverURL = "must be http://host:port, https://host:port, unix:///path or demo:, without user, query or fragment"

// TestFaults: every rule of the file, and the one line that tells it.
func TestFaults(t *testing.T) {
	for _, test := range []struct{ yaml, want string }{
		// Structure.
		{"# one\n\noutput:\n  on_ful: drop\n", "4: output.on_ful: unknown key"},
		{"# one\r\n\r\noutput:\r\n  on_ful: drop\r\n", "4: output.on_ful: unknown key"},
		{"outputs: {}\n", "1: outputs: unknown key"},
		{"llama_server: {'api_key:hunter2': x}\n", "1: llama_server.?: unknown key"},
		{"log: {level: info}\nlog: {level: info}\n", "2: log: is given twice"},
		{"log:\n  level: info\n  format: text\n  level: info\n", "4: log.level: is given twice"},
		{"mcp_servers:\n  a: {command: x}\n  a: {command: y}\n", "3: mcp_servers.a: is given twice"},
		{"log: info\n", "1: log: must be a mapping (key: value)"},
		{"log:\n  level:info\n", "2: log: must be a mapping (key: value)"},
		{"- log\n", "1: must be a mapping (key: value)"},
		{"models: {name: x}\n", "1: models: must be a list"},
		{"models:\n  - name: x\n    path: y\n  - z\n", "4: models[1]: must be a mapping (key: value)"},
		{"models:\n  - {path: y}\n  -\n", "3: models[1]: is empty"},
		{"1: x\n", "1: a key must be a string (put it in quotes)"},
		{"log: &a {level: info}\ndebug: {<<: *a}\n", "2: debug: merge keys (<<) are not supported"},
		{"log: {level: !!str info}\n", "1: log.level: tags (!) are not supported"},
		{"log: {level: *nowhere}\n", "1: log.level: an alias (*) without its anchor (&)"},
		{"log: {level: info}\n---\nlog: {level: info}\n", "3: only one YAML document is allowed"},
		// Syntax.
		{"log:\n  level: \"info\n", "2: not valid YAML: a double quote isn't closed"},
		{"log:\n  level: 'info\n", "2: not valid YAML: a single quote isn't closed"},
		{"log: {level: info\n", "1: not valid YAML: a { isn't closed"},
		{"log:\n\tlevel: info\n", "2: not valid YAML: a tab can't indent here, use spaces"},
		{"log: {level: \"\xff\"}\n", "1: not UTF-8 text"},
		{"\n" + strings.Repeat("[", 201), "2: nested too deeply"},
		{"\n\n" + strings.Repeat("- ", 501), "3: nested too deeply"},
		// Types.
		{"log: {level: 5}\n", "1: log.level: must be a string (put it in quotes)"},
		{"log: {level: [info]}\n", "1: log.level: must be a string (put it in quotes)"},
		{"output: {ascii: 1}\n", "1: output.ascii: must be true or false"},
		{"output: {ascii: \"true\"}\n", "1: output.ascii: must be true or false"},
		{"output: {queue_frames: \"10\"}\n", "1: output.queue_frames: must be a whole number"},
		{"output: {queue_frames: 1.5}\n", "1: output.queue_frames: must be a whole number"},
		{"output: {queue_frames: 3000000000}\n", "1: output.queue_frames: is too large"},
		{"output: {queue_frames: 18446744073709551615}\n", "1: output.queue_frames: is too large"},
		{"output: {pending_bytes: 1.5MiB}\n", "1: output.pending_bytes: " + size},
		{"output: {pending_bytes: true}\n", "1: output.pending_bytes: " + size},
		{"output: {pending_bytes: 16MB}\n", "1: output.pending_bytes: " + size},
		{"output: {pending_bytes: 9000000TiB}\n", "1: output.pending_bytes: is too large"},
		{"output: {pending_bytes: -1}\n", "1: output.pending_bytes: must not be negative"},
		{"output: {eof_timeout: 30}\n", "1: output.eof_timeout: " + duration},
		{"output: {eof_timeout: -30s}\n", "1: output.eof_timeout: must not be negative"},
		{"output: {eof_timeout: [30s]}\n", "1: output.eof_timeout: " + duration},
		{"models: [{path: x, gpu_layers: some}]\n", "1: models[0].gpu_layers: must be auto or a whole number"},
		{"models: [{path: x, gpu_layers: -1}]\n", "1: models[0].gpu_layers: must be auto or a whole number"},
		{"agents: [{temperature: warm}]\n", "1: agents[0].temperature: must be a number"},
		{"mcp_servers: {a: {command: x, requires_approval: maybe}}\n", "1: mcp_servers.a.requires_approval: must be true, false or a list of globs"},
		{"mcp_servers: {a: {command: x, requires_approval: [1]}}\n", "1: mcp_servers.a.requires_approval[0]: must be a string (put it in quotes)"},
		{"mcp_servers: {a: {command: x, requires_approval: ['']}}\n", "1: mcp_servers.a.requires_approval[0]: must not be empty"},
		{"mcp_servers: {a: {command: x, env: {PORT: 80}}}\n", "1: mcp_servers.a.env.PORT: must be a string (put it in quotes)"},
		// llama_server.
		{"llama_server:\n  url: ftp://h\n", "2: llama_server.url: " + serverURL},
		{"llama_server: {url: localhost}\n", "1: llama_server.url: " + serverURL},
		{"llama_server: {url: 'http://'}\n", "1: llama_server.url: " + serverURL},
		{"llama_server: {url: 'http://u:p@h'}\n", "1: llama_server.url: " + serverURL},
		{"llama_server: {url: 'http://h?k=v'}\n", "1: llama_server.url: " + serverURL},
		{"llama_server: {url: 'http://h:65536'}\n", "1: llama_server.url: " + serverURL},
		{"llama_server: {url: 'unix://x.sock'}\n", "1: llama_server.url: " + serverURL},
		{"llama_server: {url: 'unix:///'}\n", "1: llama_server.url: " + serverURL},
		{"llama_server: {url: 'demo:x'}\n", "1: llama_server.url: " + serverURL},
		{"llama_server: {binary: ''}\n", "1: llama_server.binary: must not be empty"},
		{"llama_server: {api_key: 'a b'}\n", "1: llama_server.api_key: must not hold spaces, control or non-ASCII characters"},
		{"llama_server: {startup_timeout: 0s}\n", "1: llama_server.startup_timeout: must be longer than 0s"},
		// models and agents.
		{"models: [{name: x}]\n", "1: models[0].path: must name a GGUF file (or set llama_server.url)"},
		{"models: [{name: '', path: x}]\n", "1: models[0].name: must not be empty"},
		{"models:\n  - {name: a, path: x}\n  - {name: a, path: y}\n", "3: models[1].name: is the name of an earlier model"},
		{"models: [{path: x, ctx_size: -1}]\n", "1: models[0].ctx_size: must not be negative"},
		{"models: [{path: x, parallel: -1}]\n", "1: models[0].parallel: must not be negative"},
		{"models: [{name: a, path: x}]\nagents:\n  - name: b\n    model: c\n", "4: agents[0].model: must be the name of one of the models"},
		{"agents: [{name: b, model: c}]\n", "1: agents[0].model: must be the name of one of the models"},
		{"agents:\n  - name: a\n  - name: a\n", "3: agents[1].name: is the name of an earlier agent"},
		{"agents: [{name: ''}]\n", "1: agents[0].name: must not be empty"},
		{"agents: [{max_steps: 0}]\n", "1: agents[0].max_steps: must be at least 1"},
		{"agents: [{max_tokens: -1}]\n", "1: agents[0].max_tokens: must not be negative"},
		{"agents: [{temperature: -0.5}]\n", "1: agents[0].temperature: must be a number of at least 0"},
		{"agents: [{tools: ['']}]\n", "1: agents[0].tools[0]: must not be empty"},
		// mcp_servers.
		{"mcp_servers:\n  a: {}\n", "2: mcp_servers.a: must have either a command or a url"},
		{"mcp_servers: {a: {command: x, url: 'http://h'}}\n", "1: mcp_servers.a: must have either a command or a url"},
		{"mcp_servers: {a/b: {command: x}}\n", "1: mcp_servers.?: a server's name must be made of letters, digits, - _ and ."},
		{"mcp_servers: {a: {url: 'ws://h'}}\n", "1: mcp_servers.a.url: must be http://… or https://…, without user or fragment (use headers)"},
		{"mcp_servers: {a: {url: 'http://h', args: [x]}}\n", "1: mcp_servers.a.args: needs a command"},
		{"mcp_servers: {a: {url: 'http://h', cwd: x}}\n", "1: mcp_servers.a.cwd: needs a command"},
		{"mcp_servers: {a: {url: 'http://h', env: {A: b}}}\n", "1: mcp_servers.a.env: needs a command"},
		{"mcp_servers: {a: {command: x, headers: {A: b}}}\n", "1: mcp_servers.a.headers: needs a url"},
		{"mcp_servers: {a: {url: 'http://h', headers: {'A B': c}}}\n", "1: mcp_servers.a.headers: a header's name must be a token and its value one line"},
		{"mcp_servers: {a: {url: 'http://h', headers: {A: \"b\\nc\"}}}\n", "1: mcp_servers.a.headers: a header's name must be a token and its value one line"},
		{"mcp_servers: {a: {command: x, env: {A=B: c}}}\n", "1: mcp_servers.a.env: a variable's name must not hold =, and nothing a NUL character"},
		{"mcp_servers: {a: {command: x, timeout: 0}}\n", "1: mcp_servers.a.timeout: must be longer than 0s"},
		// Limits.
		{"app: {max_parse_errors: -1}\n", "1: app.max_parse_errors: must not be negative"},
		{"app: {max_parallel_chats: 0}\n", "1: app.max_parallel_chats: must be at least 1"},
		{"app: {approval_timeout: 0s}\n", "1: app.approval_timeout: must be longer than 0s"},
		{"app: {tool_result_bytes: 0}\n", "1: app.tool_result_bytes: must be at least 1"},
		{"app: {data_dir: \"a\\0b\"}\n", "1: app.data_dir: must not hold a NUL character"},
		{"mcp_servers:\n  fs: {command: c, requires_approval: [fs/x, \"write_*\"]}\n", "2: mcp_servers.fs.requires_approval[1]: names no tool of this server: they are named fs/TOOL"},
		{"mcp_servers: {fs: {command: c, requires_approval: [fs/]}}\n", "1: mcp_servers.fs.requires_approval[0]: names no tool of this server: they are named fs/TOOL"},
		{"mcp_servers: {fs: {command: c, requires_approval: [FS/*]}}\n", "1: mcp_servers.fs.requires_approval[0]: names no tool of this server: they are named fs/TOOL"},
		{"memory: {top_k: 0}\n", "1: memory.top_k: must be at least 1"},
		{"memory:\n  embedding_model: e\n", "2: memory.embedding_model: must be the name of one of the models"},
		{"input: {max_line_bytes: 0}\n", "1: input.max_line_bytes: must be at least 1"},
		{"input: {max_pending_requests: 0}\n", "1: input.max_pending_requests: must be at least 1"},
		{"input: {max_pending_bytes: 0}\n", "1: input.max_pending_bytes: must be at least 1"},
		{"output:\n  {queue_frames: 5,\n   on_full: block}\n", "3: output.on_full: must be coalesce or drop"},
		{"output: {pending_bytes: 0}\n", "1: output.pending_bytes: must be at least 1"},
		{"output: {merge_bytes: 0}\n", "1: output.merge_bytes: must be at least 1"},
		{"output: {queue_frames: 0}\n", "1: output.queue_frames: must be at least 1"},
		{"output: {guaranteed_bytes: 0}\n", "1: output.guaranteed_bytes: must be at least 1"},
		{"output: {eof_timeout: 0s}\n", "1: output.eof_timeout: must be longer than 0s"},
		{"output: {stall_threshold: 0s}\n", "1: output.stall_threshold: must be longer than 0s"},
		{"log: {level: loud}\n", "1: log.level: must be debug, info, warn or error"},
		{"log: {format: xml}\n", "1: log.format: must be text or json"},
		{"debug: {token: ' '}\n", "1: debug.token: must be ASCII without spaces and line ends, as a header takes it"},
		{"debug: {token: \"hunter2\\n\"}\n", "1: debug.token: must be ASCII without spaces and line ends, as a header takes it"},
		{"debug: {addr: nowhere}\n", "1: debug.addr: must be host:port"},
	} {
		_, err := load(t, test.yaml)
		var fault *Error
		if !errors.As(err, &fault) || err.Error() != "config.yaml:"+test.want {
			t.Errorf("%q\n got %v\nwant config.yaml:%s", test.yaml, err, test.want)
		}
	}
}

// TestRefusedOptions: the options that only the engine may give, in every spelling llama-server reads.
func TestRefusedOptions(t *testing.T) {
	for arg, option := range map[string]string{
		"--host": "--host", "--host=0.0.0.0": "--host", "--port": "--port", "--port=1": "--port",
		"--api-key": "--api-key", "--api-key=hunter2": "--api-key", "--api_key=hunter2": "--api-key",
		"--api-key-file": "--api-key", "--api-prefix": "--api-prefix", "--api_prefix=/x": "--api-prefix",
		"--hosts": "", "-c": "", "--threads=4": "", "host": "",
	} {
		_, err := load(t, fmt.Sprintf("llama_server:\n  args:\n    - --verbose\n    - %q\n", arg))
		want := "config.yaml:4: llama_server.args[1]: " + option + " is set by the engine and can't be given here"
		switch {
		case option == "" && err != nil:
			t.Errorf("%s: %v", arg, err)
		case option != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: got %v, want %s", arg, err, want)
		}
	}
}

// TestLinesAfterLongValues: a value of several lines doesn't shift the lines of what follows.
func TestLinesAfterLongValues(t *testing.T) {
	for _, value := range []string{
		"|\n    one\n\n    two\n\n", ">-\n    one\n    two\n", "\"one\n\n    two\"\n", "'one\n    two'\n", "one\n    two\n", "\n    one\n",
		"x # comment\n    # comment\n\n", "|\n    one\n# comment\n",
	} {
		text := "agents:\n- system_prompt: " + value + "  max_steps: 1\n  max_step: 1\n"
		_, err := load(t, text)
		want := fmt.Sprintf("config.yaml:%d: agents[0].max_step: unknown key", strings.Count(text, "\n"))
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestErrorIsOneLine(t *testing.T) {
	err := &Error{File: "a\nb\x1b[31m", Line: 3, Key: "k", Reason: "r"}
	if got, want := err.Error(), "a?b?[31m:3: k: r"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

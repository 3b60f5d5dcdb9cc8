package tools

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// script is an MCP server that does what a test wants. It speaks the protocol by hand, so that it can
// break it.
type script struct {
	in      *bufio.Reader
	out     io.Writer
	errs    io.Writer
	tools   []string                      // JSON of each tool
	calls   map[string]func(call) int     // by tool; a status other than alive ends the server
	newest  bool                          // it speaks only the protocol without initialize
	notices []string                      // the notifications that came
	page    func(cursor string) string    // answers tools/list instead of tools
	gate    func(method string) (end int) // asked about each request first
}

// call is a call of a tool.
type call struct {
	id, args string
}

// message is a line that came.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// alive is what goes on, hush what goes on without an answer.
const (
	alive = -1
	hush  = -2
)

func newScript(in io.Reader, out, errs io.Writer) *script {
	s := &script{in: bufio.NewReader(in), out: out, errs: errs, calls: map[string]func(call) int{}}
	s.gate = func(string) int { return alive }
	s.offer("echo", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, func(c call) int {
		s.text(c.id, c.args)
		return alive
	})
	s.offer("hang", `{"type":"object"}`, func(call) int { return alive })
	s.offer("notices", `{"type":"object"}`, func(c call) int {
		s.text(c.id, strings.Join(s.notices, "\n"))
		return alive
	})
	return s
}

// offer adds a tool.
func (s *script) offer(name, schema string, run func(call) int) {
	s.tools = append(s.tools, fmt.Sprintf(`{"name":%q,"description":"does %s","inputSchema":%s}`, name, name, schema))
	s.calls[name] = run
}

func (s *script) send(line string) { fmt.Fprintln(s.out, line) }
func (s *script) result(id, text string) {
	s.send(`{"jsonrpc":"2.0","id":` + id + `,"result":` + text + `}`)
}
func (s *script) failure(id, text string) {
	s.send(`{"jsonrpc":"2.0","id":` + id + `,"error":` + text + `}`)
}

func (s *script) text(id, text string) {
	quoted, _ := json.Marshal(text)
	s.result(id, `{"content":[{"type":"text","text":`+string(quoted)+`}]}`)
}

// run runs a script by its name until its input ends; it returns the exit status.
func (s *script) run(name string) int {
	prepare, known := scripts[name]
	if !known {
		return 99
	}
	prepare(s)
	for {
		m, err := s.next()
		if err != nil {
			return 0
		}
		if status := s.answer(m); status >= 0 {
			return status
		}
	}
}

func (s *script) next() (m message, err error) {
	line, err := s.in.ReadBytes('\n')
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(line, &m)
}

func (s *script) answer(m message) int {
	id := string(m.ID)
	if m.Method == "" { // an answer to a request of ours
		s.notices = append(s.notices, "answer "+id+" "+string(m.Result)+string(m.Error))
		return alive
	}
	if id == "" {
		s.notices = append(s.notices, m.Method+" "+string(m.Params))
		return alive
	}
	if status := s.gate(m.Method); status != alive {
		return status
	}
	switch m.Method {
	case "initialize":
		if s.newest {
			s.failure(id, `{"code":-32601,"message":"no such method"}`)
			return alive
		}
		s.result(id, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"script","version":"1"}}`)
	case "tools/list":
		s.list(id, m.Params)
	case "tools/call":
		var params struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		_ = json.Unmarshal(m.Params, &params)
		return s.calls[params.Name](call{id, string(params.Arguments)})
	case "server/discover":
		s.result(id, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	default:
		s.failure(id, `{"code":-32601,"message":"no such method"}`)
	}
	return alive
}

func (s *script) list(id string, params json.RawMessage) {
	if s.page == nil {
		s.result(id, `{"tools":[`+strings.Join(s.tools, ",")+`]}`)
		return
	}
	var page struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(params, &page)
	s.result(id, s.page(page.Cursor))
}

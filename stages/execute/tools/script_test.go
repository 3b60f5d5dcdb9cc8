package tools

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
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

// block does nothing any more. An empty select would be a deadlock, which ends the program.
func block() int {
	for {
		time.Sleep(time.Hour)
	}
}

// scripts are the servers by name.
var scripts = map[string]func(*script){
	"plain": func(*script) {},
	"mute":  func(s *script) { s.gate = func(string) int { return hush } },
	"slow tools": func(s *script) {
		s.gate = func(method string) int { return map[bool]int{true: hush, false: alive}[method == "tools/list"] }
	},
	"dies at start": func(s *script) {
		fmt.Fprintln(s.errs, "cannot find module\nthe token is hunter2hunter2")
		s.gate = func(string) int { return 7 }
	},
	"dies after initialize": func(s *script) {
		s.gate = func(method string) int { return map[bool]int{true: 5, false: alive}[method == "tools/list"] }
	},
	"dies in a call": func(s *script) {
		s.offer("die", `{}`, func(call) int {
			fmt.Fprintln(s.errs, "out of cheese")
			return 3
		})
	},
	"noise": func(s *script) {
		s.gate = func(string) int {
			fmt.Fprint(s.out, "Listening...\n\n{\"level\":\"info\"}\n[1,\"x\"]\n\xff\xfe\n")
			return alive
		}
	},
	"newest": func(s *script) { s.newest = true },
	"batches": func(s *script) {
		s.offer("batch", `{}`, func(c call) int {
			s.send(`[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi"}},` +
				`{"jsonrpc":"2.0","id":` + c.id + `,"result":{"content":[{"type":"text","text":"batched"}]}}]`)
			return alive
		})
	},
	"large": func(s *script) {
		s.offer("large", `{}`, func(c call) int {
			s.result(c.id, `{"content":[{"type":"text","text":"`+strings.Repeat("x", 50<<20)+`"}]}`)
			return alive
		})
		s.offer("endless", `{}`, func(call) int {
			piece := strings.Repeat("x", 1<<20)
			for range maxMessage>>20 + 8 {
				if _, err := fmt.Fprint(s.out, piece); err != nil {
					return 1
				}
			}
			return alive
		})
	},
	"stubborn": func(s *script) {
		signal.Ignore(syscall.SIGTERM)
		s.offer("block", `{}`, func(call) int { fmt.Fprintln(s.errs, "blocking"); return block() })
	},
	"chatty stderr": func(s *script) {
		fmt.Fprint(s.errs, strings.Repeat(strings.Repeat("y", 99)+"\n", 20_000)) // before any of its input is read
	},
	"deaf": func(s *script) {
		s.offer("deaf", `{}`, func(c call) int { s.text(c.id, "now deaf"); return block() })
	},
	"changes": func(s *script) {
		s.offer("grow", `{}`, func(c call) int {
			s.offer("grown", `{}`, func(c call) int { s.text(c.id, "grown"); return alive })
			s.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			s.text(c.id, "growing")
			return alive
		})
	},
	"many": func(s *script) {
		s.page = func(cursor string) string {
			var from int
			_, _ = fmt.Sscan(cursor, &from)
			var tools []string
			for i := from; i < from+500; i++ {
				tools = append(tools, fmt.Sprintf(`{"name":"tool%05d","inputSchema":{"type":"object"}}`, i))
			}
			next := ""
			if from+500 < 10_000 {
				next = fmt.Sprintf(`,"nextCursor":"%d"`, from+500)
			}
			return `{"tools":[` + strings.Join(tools, ",") + `]` + next + `}`
		}
	},
	"same page": func(s *script) {
		s.page = func(string) string { return `{"tools":[` + strings.Join(s.tools, ",") + `],"nextCursor":"same"}` }
	},
	"no tools": func(s *script) { s.page = func(string) string { return `{"tools":[]}` } },
	"absurd": func(s *script) {
		empty := func(c call) int { s.text(c.id, "called with "+c.args); return alive }
		for name, schema := range map[string]string{
			"none": `null`, "text": `"object"`, "array": `{"type":"array"}`, "wrong": `{"type":"object","properties":5}`,
			"large": `{"type":"object","description":"` + strings.Repeat("z", 1<<20) + `"}`, "untyped": `{}`,
			"loop": `{"type":"object","allOf":[{"$ref":"#"}]}`, "elsewhere": `{"type":"object","$ref":"https://example.com/x"}`,
			"lookahead": `{"type":"object","properties":{"a":{"type":"string","pattern":"(?=x)"}}}`,
		} {
			s.offer(name, schema, empty)
		}
		s.tools = append(s.tools, `{"name":"","inputSchema":{}}`, `{"name":"a\nb","inputSchema":{}}`, `null`,
			`{"name":"twice","description":"first","inputSchema":{}}`, `{"name":"twice","description":"second","inputSchema":{}}`)
	},
	"results": resultScript,
	"asks": func(s *script) {
		s.offer("ask", `{}`, func(c call) int {
			for i, method := range []string{"ping", "roots/list", "sampling/createMessage", "elicitation/create", "no/such"} {
				params := map[string]string{
					"sampling/createMessage": `,"params":{"messages":[],"maxTokens":5}`,
					"elicitation/create":     `,"params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}`,
				}[method]
				s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":%q%s}`, i, method, params))
			}
			s.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":{"the token":"hunter2hunter2"}}}`)
			s.text(c.id, "asked")
			return alive
		})
	},
	"counts": func(s *script) { // one line a call in the file that COUNT names
		s.offer("count", `{}`, func(c call) int {
			file, err := os.OpenFile(os.Getenv("COUNT"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				fmt.Fprintln(file, c.id)
				_ = file.Close()
			}
			s.text(c.id, "counted")
			return 4 // it ends after each answer
		})
	},
}

// resultScript answers with every kind of content.
func resultScript(s *script) {
	for name, result := range map[string]string{
		"texts":      `{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`,
		"structured": `{"content":[],"structuredContent":{"a":"<b>"}}`,
		"both":       `{"content":[{"type":"text","text":"text"}],"structuredContent":{"a":1}}`,
		"media":      `{"content":[{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"}]}`,
		"link":       `{"content":[{"type":"resource_link","uri":"file:///a","name":"a","mimeType":"text/plain","size":7}]}`,
		"embedded":   `{"content":[{"type":"resource","resource":{"uri":"x:1","text":"inside"}},{"type":"resource","resource":{"uri":"x:2","mimeType":"a/b","blob":"aGVsbG8="}}]}`,
		"empty":      `{"content":[]}`,
		"error":      `{"content":[{"type":"text","text":"no such file, token hunter2hunter2"}],"isError":true}`,
		"invalid":    "{\"content\":[{\"type\":\"text\",\"text\":\"a\xffb\"}]}",
		"unknown":    `{"content":[{"type":"hologram"}]}`,
	} {
		s.offer(name, `{}`, func(c call) int { s.result(c.id, result); return alive })
	}
	for name, fault := range map[string]string{
		"rpc error": `{"code":-32000,"message":"it broke, token hunter2hunter2"}`, "bad params": `{"code":-32602,"message":"a is missing"}`,
	} {
		s.offer(name, `{}`, func(c call) int { s.failure(c.id, fault); return alive })
	}
}

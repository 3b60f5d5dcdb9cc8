package tools

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// testMessage is the longest message in bytes in tests of that limit.
const testMessage = 1 << 20

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
			s.result(c.id, `{"content":[{"type":"text","text":"`+strings.Repeat("x", testMessage*3/4)+`"}]}`)
			return alive
		})
		s.offer("endless", `{}`, func(call) int {
			piece := strings.Repeat("x", testMessage/8)
			for range 12 {
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
	"wide": func(s *script) { // 40 pages of one tool, whose description takes half of a message
		s.page = func(cursor string) string {
			var n int
			_, _ = fmt.Sscan(cursor, &n)
			next := ""
			if n < 39 {
				next = fmt.Sprintf(`,"nextCursor":"%d"`, n+1)
			}
			return fmt.Sprintf(`{"tools":[{"name":"tool%02d","description":%q,"inputSchema":{"type":"object"}}]%s}`, n, strings.Repeat("d", testMessage/2-500), next)
		}
	},
	"long": func(s *script) { // as many tools as fit into a message, all of whose description counts
		var tools []string
		for n := range testMessage / 10_200 {
			tools = append(tools, fmt.Sprintf(`{"name":"tool%03d","description":%q,"inputSchema":{"type":"object"}}`, n, strings.Repeat("d", 10_000)))
		}
		s.page = func(string) string { return `{"tools":[` + strings.Join(tools, ",") + `]}` }
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

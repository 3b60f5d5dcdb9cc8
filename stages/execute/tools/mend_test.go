package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestMend(t *testing.T) {
	for name, c := range map[string]struct {
		method, result   string
		want             string // empty: unchanged
		dropped, changed int
	}{
		"a list":   {"tools/list", `{"tools":[{"name":"a","annotations":{"title":"x"},"inputSchema":5,"more":[1]}],"nextCursor":"x","x":1}`, "", 0, 0},
		"no tools": {"tools/list", `{"tools":null}`, "", 0, 0},
		"what is no tool": {
			"tools/list", `{"tools":["x",{"name":5}, {"name":null},{"name":{}},{"name":""},{},7,{"name":"a"},null]}`,
			`{"tools":[null,null, null,null,null,null,null,{"name":"a"},null]}`, 8, 0,
		},
		"members of a tool": {
			"tools/list", ` {"tools":[{"name":"a","description":7,"title":["x"],"annotations":{"readOnlyHint":"yes"},"icons":{},"_meta":"m"}],"nextCursor":5,"ttlMs":"x"}`,
			` {"tools":[{"name":"a","description":null,"title":null,"annotations":null,"icons":null,"_meta":null}],"nextCursor":null,"ttlMs":null}`, 0, 7,
		},
		"an escaped name": {"tools/list", `{"tools":[{"name":"a","descripti\u006fn":7}]}`, `{"tools":[{"name":"a","descripti\u006fn":null}]}`, 0, 1},
		"a result":        {"tools/call", `{"content":[{"type":"text","text":"a\nb"}, {"type":"image","data":"aGVsbG8=","mimeType":"a/b"}],"structuredContent":5}`, "", 0, 0},
		"no content":      {"tools/call", `{}`, "", 0, 0},
		"null content":    {"tools/call", `{"content":null}`, "", 0, 0},
		"a text":          {"tools/call", `{"content":"a\"b"}`, `{"content":[{"type":"text","text":"a\"b"}]}`, 0, 2},
		"one item":        {"tools/call", `{"content": {"type":"text","text":"x","size":"5"} }`, `{"content": [{"type":"text","text":"x","size":null}] }`, 0, 2},
		"a number":        {"tools/call", `{"content":5}`, `{"content":[{"type":"text","text":"[an item without a type that can't be shown]"}]}`, 1, 1},
		"texts":           {"tools/call", `{"content":["a","b"]}`, `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, 0, 2},
		"unknown types": {
			"tools/call", `{"content":[{"type":"weird","x":1},{"text":"x"},null,{"type":"text","text":"kept"},{"type":6}]}`,
			`{"content":[{"type":"text","text":"[an item of type \"weird\" that can't be shown]"},{"type":"text","text":"[an item without a type that can't be shown]"},` +
				`{"type":"text","text":"[an item without a type that can't be shown]"},{"type":"text","text":"kept"},{"type":"text","text":"[an item without a type that can't be shown]"}]}`, 4, 0,
		},
		"a text that is none":   {"tools/call", `{"content":[{"type":"text","text":{"a":"b"}}]}`, `{"content":[{"type":"text","text":"{\"a\":\"b\"}"}]}`, 0, 1},
		"an image that is none": {"tools/call", `{"content":[{"mimeType":5,"type":"image","data":"!"}]}`, `{"content":[{"type":"text","text":"[an item of type \"image\" that can't be shown]"}]}`, 1, 0},
		"errors":                {"tools/call", `{"isError":"true","_meta":5}`, `{"isError":true,"_meta":null}`, 0, 2},
		"no errors":             {"tools/call", `{"isError":0}`, `{"isError":false}`, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, fine := mend(c.method, []byte(c.result))
			if c.want == "" {
				c.want = c.result
			}
			if got := m.done(); !fine || got != c.want || m.dropped != c.dropped || m.changed != c.changed {
				t.Errorf("got %v, %d dropped, %d changed: %s", fine, m.dropped, m.changed, got)
			}
			if err := decodeResult(c.method, m.done()); err != nil {
				t.Errorf("the SDK refuses it: %v", err)
			}
		})
	}
	for _, result := range []string{"null", "5", "[]", `"x"`, "true"} {
		for _, method := range []string{"tools/list", "tools/call"} {
			if _, fine := mend(method, []byte(result)); fine {
				t.Errorf("%s is taken for a result of %s", result, method)
			}
		}
	}
	if _, fine := mend("tools/list", []byte(`{"tools":{"a":1}}`)); fine {
		t.Error("an object is taken for a list")
	}
}

// decodeResult decodes as the SDK does.
func decodeResult(method, result string) error {
	if method == "tools/call" {
		return json.Unmarshal([]byte(result), &mcp.CallToolResult{})
	}
	return json.Unmarshal([]byte(result), &mcp.ListToolsResult{})
}

// isFine reports whether the SDK decodes a result to what a server may send: tools with names, items of
// the types of results, without members for what models say.
func isFine(method string, text []byte) bool {
	if method == "tools/list" {
		var list mcp.ListToolsResult
		folds := func(r rune) bool { return r >= 'A' && r <= 'Z' || r > 126 } // the SDK's decoder looks at case, ours here doesn't
		return json.Unmarshal(text, &list) == nil && !strings.ContainsFunc(string(text), folds) &&
			!slices.ContainsFunc(list.Tools, func(tool *mcp.Tool) bool { return tool == nil || tool.Name == "" })
	}
	var result mcp.CallToolResult
	return json.Unmarshal(text, &result) == nil && strings.Count(string(text), `"content"`) < 2 && !strings.Contains(string(text), `\`) &&
		!slices.ContainsFunc(result.Content, func(item mcp.Content) bool {
			switch item.(type) {
			case *mcp.TextContent, *mcp.ImageContent, *mcp.AudioContent, *mcp.ResourceLink, *mcp.EmbeddedResource:
				return false
			}
			return true
		})
}

// Valid JSON stays valid, what is mended needs no more mending, and what a server may send keeps its
// bytes.
func FuzzMend(f *testing.F) {
	for _, result := range []string{
		`{"tools":["x",{"name":5},{"name":"a","description":7}],"nextCursor":5}`, `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`,
		`{"content":"a"}`, `{"content":[{"type":"weird"},{"type":"text","text":"kept"},{"type":"text","text":[1]},null]}`, `{"content":{"type":"image","data":"aGk="}}`,
		`{"content":[],"isError":"x","structuredContent":{"a":1e3}}`, `{"content":[{"type":"resource","resource":{"blob":"aGk="}}]}`,
		`{"content":[{"type":"resource_link","uri":"a:b","name":"\u00e4","size":7,"icons":[{"src":"x"}]}]}`, ` [ ] `, `null`, `{"content":[{"type":"text","type":5}]}`,
	} {
		f.Add(true, []byte(result))
		f.Add(false, []byte(result))
	}
	f.Fuzz(func(t *testing.T, list bool, result []byte) {
		method := map[bool]string{true: "tools/list", false: "tools/call"}[list]
		m, fine := mend(method, result)
		if !json.Valid(result) || !fine {
			return
		}
		mended := m.done()
		if !json.Valid([]byte(mended)) {
			t.Fatalf("%s became %s", result, mended)
		}
		if again, fine := mend(method, []byte(mended)); !fine || len(again.edits) > 0 {
			t.Errorf("%s became %s, then %s", result, mended, again.done())
		}
		if isFine(method, result) && mended != string(result) {
			t.Errorf("%s became %s without need", result, mended)
		}
	})
}

package tools

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"sluice/internal/wire"
)

// A remote server's answers are mended as those over pipes are, in both forms that they may have.
func TestRemoteMended(t *testing.T) {
	for kind, form := range map[string]string{"application/json": "%s", "text/event-stream": ": hello\r\nevent: message\r\ndata:%s\n\n"} {
		t.Run(kind, func(t *testing.T) {
			w := remoteWorld(t, serve(t, oddHandler(kind, form)).URL)
			if names := w.names(); !slices.Equal(names, []string{"x/id", "x/mixed", "x/neither", "x/odd"}) {
				t.Errorf("got %q", names)
			}
			wantIn(t, w.log.String(), "level=WARN", "entries=2", "members=1")
			if text := w.want(wire.ToolOK, "x/mixed", "{}"); text != "[an item of type \"weird\" that can't be shown]\nkept" {
				t.Errorf("got %q", text)
			}
			if text := w.want(wire.ToolOK, "x/id", "{}"); text != "fine" {
				t.Errorf("got %q", text)
			}
			wantIn(t, w.want(wire.ToolError, "x/neither", "{}"), "it answered something that is no valid result of tools/call")
			wantIn(t, w.want(wire.ToolError, "x/odd", "{}"), "the tool failed: boom")
		})
	}
}

// oddHandler is a server that breaks the protocol in its answers.
func oddHandler(kind, form string) http.HandlerFunc {
	tools := `{"tools":[{"name":5},"text",{"name":"mixed","description":7},{"name":"neither"},{"name":"odd"},{"name":"id"}]}`
	answers := map[string]string{
		"initialize": `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`,
		"tools/list": `{"jsonrpc":"2.0","id":%s,"result":` + tools + `}`,
		"mixed":      `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"weird"},{"type":"text","text":"kept"}]}}`,
		"neither":    `{"jsonrpc":"2.0","id":%s}`, "odd": `{"jsonrpc":"2.0","id":%s,"error":"boom"}`,
		"id": `{"jsonrpc":"2.0","id":"%s","result":{"content":"fine"}}`,
	}
	return func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
			w.WriteHeader(map[bool]int{true: http.StatusAccepted, false: http.StatusMethodNotAllowed}[r.Method == http.MethodPost])
			return
		}
		var params struct{ Name string }
		_ = json.Unmarshal(m.Params, &params)
		answer, known := answers[m.Method]
		if !known {
			answer = answers[params.Name]
		}
		w.Header().Set("Content-Type", kind)
		fmt.Fprintf(w, form, fmt.Sprintf(answer, m.ID))
	}
}

// What isn't mended of a stream comes as it was, also without a last line's end and beyond the limit.
func TestMendedStreamUnchanged(t *testing.T) {
	for _, text := range []string{
		"", "data: x", "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1}\n\n", ": c\r\n\r\nid: 5\n", "data:" + strings.Repeat("x", 20_000) + "\nid: 1\n",
		"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
	} {
		for _, limit := range []int{100, 1 << 20} {
			s := stream(strings.NewReader(text), limit)
			if got, err := io.ReadAll(s); string(got) != text || err != nil {
				t.Errorf("%.50q became %.50q, %v", text, got, err)
			}
			if got, err := io.ReadAll(stream(iotest.OneByteReader(strings.NewReader(text)), limit)); string(got) != text || err != nil {
				t.Errorf("%.50q became %.50q, %v", text, got, err)
			}
		}
	}
	broken := io.MultiReader(strings.NewReader("id: 1\ndata: "), iotest.ErrReader(io.ErrUnexpectedEOF))
	if got, err := io.ReadAll(stream(broken, 100)); string(got) != "id: 1\ndata: " || err != io.ErrUnexpectedEOF {
		t.Errorf("got %q, %v", got, err)
	}
}

func stream(r io.Reader, limit int) *mendedStream {
	return &mendedStream{reader: bufio.NewReader(r), answers: new(answers), limit: limit}
}

package parse

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// oneMessage parses a single line.
func oneMessage(text string) wire.Request {
	p := JSONRPC{MaxLineBytes: limit}
	return p.Apply(&wire.Lines{Items: []wire.Line{{Bytes: []byte(text)}}}).Items[0]
}

func TestGoodMessages(t *testing.T) {
	for _, c := range []struct {
		line, id, name, params string
		notification           bool
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"health"}`, `1`, "health", "", false},
		{`{"jsonrpc":"2.0","id":"a","method":"chat/start","params":{"input":"x"}}`, `"a"`, "chat/start", `{"input":"x"}`, false},
		{`{"jsonrpc":"2.0","id":null,"method":"health"}`, `null`, "health", "", false},
		{`{"jsonrpc":"2.0","id":1.50,"method":"health"}`, `1.50`, "health", "", false},
		{`{"jsonrpc":"2.0","id":"\u0062\/","method":"health"}`, `"\u0062\/"`, "health", "", false},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":""}`, `9007199254740993`, "", "", false},
		{`{"jsonrpc":"2.0","method":"exit"}`, ``, "exit", "", true},
		{`{"method":"profile/use","params":{"name":"x"},"jsonrpc":"\u0032.0"}`, ``, "profile/use", `{"name":"x"}`, true},
	} {
		r := oneMessage(c.line)
		if r.Fault != nil || string(r.ID) != c.id || r.Name != c.name || r.RawParams != c.params || r.Notification != c.notification || r.Size != len(c.line) {
			t.Errorf("%s:\ngot %v, id %q, name %q, params %q, notification %v", c.line, r.Fault, r.ID, r.Name, r.RawParams, r.Notification)
		}
	}
}

func TestBadMessages(t *testing.T) {
	for _, c := range []struct {
		line         string
		code         wire.Code
		id, says     string
		notification bool
	}{
		{`x`, wire.CodeInvalidJSON, "", "JSON", false},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"health\"}", wire.CodeInvalidJSON, "", "UTF-8", false},
		{nested(`{"a":`, "1", "}", wire.MaxDepth+1), wire.CodeInvalidJSON, "", "nested", false},
		{`[]`, wire.CodeInvalidRequest, "", "batches", false},
		{`[{"jsonrpc":"2.0","id":1,"method":"health"}]`, wire.CodeInvalidRequest, "", "batches", false},
		{`"x"`, wire.CodeInvalidRequest, "", "no object", false}, {`7`, wire.CodeInvalidRequest, "", "no object", false},
		{`{"jsonrpc":"2.0","id":{},"method":"health"}`, wire.CodeInvalidRequest, "", "id is", false},
		{`{"jsonrpc":"2.0","id":[1],"method":"health"}`, wire.CodeInvalidRequest, "", "id is", false},
		{`{"jsonrpc":"2.0","id":true,"method":"health"}`, wire.CodeInvalidRequest, "", "id is", false},
		{`{"id":"c","method":"health"}`, wire.CodeInvalidRequest, `"c"`, "jsonrpc", false},
		{`{"jsonrpc":"1.0","id":"d","method":"health"}`, wire.CodeInvalidRequest, `"d"`, "jsonrpc", false},
		{`{"jsonrpc":2.0,"id":"d","method":"health"}`, wire.CodeInvalidRequest, `"d"`, "jsonrpc", false},
		{`{"jsonrpc":"2.0","id":"a"}`, wire.CodeInvalidRequest, `"a"`, "method", false},
		{`{"jsonrpc":"2.0","id":"b","method":5}`, wire.CodeInvalidRequest, `"b"`, "method", false},
		{`{"jsonrpc":"2.0","id":null,"method":5}`, wire.CodeInvalidRequest, `null`, "method", false},
		{`{"jsonrpc":"2.0","id":"e","method":"health","params":[1]}`, wire.CodeInvalidRequest, `"e"`, "params", false},
		{`{"jsonrpc":"2.0","id":"e","method":"health","params":null}`, wire.CodeInvalidRequest, `"e"`, "params", false},
		{`{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"health"}`, wire.CodeInvalidRequest, `1`, "jsonrpc stands twice", false},
		{`{"jsonrpc":"2.0","id":1,"id":null,"method":"health"}`, wire.CodeInvalidRequest, ``, "id stands twice", false},
		{`{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}`, wire.CodeInvalidRequest, `1`, "method stands twice", false},
		{`{}`, wire.CodeInvalidRequest, "", "jsonrpc", true},
		{`{"jsonrpc":"2.0"}`, wire.CodeInvalidRequest, "", "method", true},
		{`{"jsonrpc":"2.0","method":"health","params":7}`, wire.CodeInvalidRequest, "", "params", true},
	} {
		r := oneMessage(c.line)
		if r.Fault == nil || r.Fault.Code != c.code || string(r.ID) != c.id || r.Notification != c.notification || !strings.Contains(r.Fault.Message, c.says) {
			t.Errorf("%.80s: got %v, id %q, notification %v", c.line, r.Fault, r.ID, r.Notification)
		}
	}
}

func TestTooLongMessage(t *testing.T) {
	p := JSONRPC{MaxLineBytes: limit}
	got := p.Apply(&wire.Lines{Items: []wire.Line{{TooLong: true}, {Bytes: []byte(`{"jsonrpc":"2.0","id":1,"method":"health"}`)}}}).Items
	if f := got[0].Fault; f == nil || f.Code != wire.CodeInvalidRequest || got[0].ID != "" || got[0].Notification || !strings.Contains(f.Message, "1000 bytes") {
		t.Errorf("the long line: %v, id %q", f, got[0].ID)
	}
	if got[1].Fault != nil || got[1].Name != "health" {
		t.Errorf("the line behind it: %v", got[1].Fault)
	}
}

func TestParsingMessagesAllocatesNothing(t *testing.T) {
	p := JSONRPC{}
	lines := &wire.Lines{Items: []wire.Line{
		{Bytes: []byte(`{"jsonrpc":"2.0","id":7,"method":"health"}`)},
		{Bytes: []byte(`{"jsonrpc":"2.0","id":"a","method":"chat/start","params":{"workflowId":"w","input":"Why \"streams\"?\n"}}`)},
	}}
	if n := testing.AllocsPerRun(100, func() { p.Apply(lines) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParseJSONRPC compares with the other protocol's parser, and with encoding/json for what is JSON-RPC's own.
func FuzzParseJSONRPC(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"health"}`, `{"jsonrpc":"2.0","method":"exit"}`, `{"jsonrpc":"2.0","id":null,"method":"m","params":{"a":1}}`,
		`[{"jsonrpc":"2.0"}]`, `{"jsonrpc":"1.0","id":"x","method":"m"}`, `{"\u006asonrpc":"2.0","jsonrpc":"2.0","id":2,"method":"m"}`, "\xff", `{`, `{"id":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		kept := bytes.Clone(line)
		got, other := oneMessage(string(line)), one(string(line))
		switch {
		case !bytes.Equal(line, kept):
			t.Fatal("the line was changed")
		case got.Fault == nil != isMessage(line):
			t.Fatalf("got %v of %q", got.Fault, line)
		case got.Fault != nil && (got.Fault.Code == wire.CodeInvalidJSON) != (other.Fault != nil && other.Fault.Code == wire.CodeInvalidJSON):
			t.Fatalf("got %v; NDJSON says %v", got.Fault, other.Fault)
		case got.ID != other.ID && got.ID != "null":
			t.Fatalf("got id %q; NDJSON reads %q", got.ID, other.ID)
		case got.Fault == nil && other.Fault == nil && (got.Name != other.Name || got.RawParams != other.RawParams):
			t.Fatalf("got %q %q; NDJSON reads %q %q", got.Name, got.RawParams, other.Name, other.RawParams)
		}
	})
}

// isMessage reports whether a line is a message that can be served, with encoding/json.
func isMessage(line []byte) bool {
	if oracle(line).code == wire.CodeInvalidJSON {
		return false
	}
	decoder, values := json.NewDecoder(bytes.NewReader(line)), map[string]string{}
	if token, _ := decoder.Token(); token != json.Delim('{') {
		return false
	}
	for decoder.More() {
		key, _ := decoder.Token()
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			panic(err)
		}
		name := key.(string)
		if _, twice := values[name]; twice && (name == "jsonrpc" || name == "id" || name == "method" || name == "params") {
			return false
		}
		values[name] = string(value)
	}
	var version string
	_ = json.Unmarshal([]byte(values["jsonrpc"]), &version)
	id, called := values["id"]
	params, given := values["params"]
	return version == "2.0" && strings.HasPrefix(values["method"], `"`) && (!given || params[0] == '{') &&
		(!called || strings.ContainsAny(id[:1], `"-0123456789n`))
}

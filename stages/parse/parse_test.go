package parse

import (
	"bytes"
	"strings"
	"testing"

	"sluice/internal/wire"
)

const limit = 1000

// one parses a single line.
func one(text string) wire.Request {
	p := NDJSON{MaxLineBytes: limit}
	return p.Apply(&wire.Lines{Items: []wire.Line{{Bytes: []byte(text)}}}).Items[0]
}

func nested(opening, inner, closing string, depth int) string {
	return strings.Repeat(opening, depth) + inner + strings.Repeat(closing, depth)
}

func TestGoodRequests(t *testing.T) {
	for _, c := range []struct{ line, id, name, params string }{
		{`{"id":1,"method":"ping"}`, `1`, "ping", ""},
		{`{"id":"1","method":"ping","params":{}}`, `"1"`, "ping", "{}"},
		{` { "params" : { "a" : [ 1 ] } , "method" : "chat" , "id" : -0.5e+3 } `, `-0.5e+3`, "chat", `{ "a" : [ 1 ] }`},
		{`{"id":9007199254740993,"method":"m"}`, `9007199254740993`, "m", ""},
		{`{"id":1.0,"method":"m"}`, `1.0`, "m", ""},
		{`{"id":1e999,"method":"m"}`, `1e999`, "m", ""},
		{`{"id":"\u00e9","method":"m"}`, `"\u00e9"`, "m", ""},
		{`{"id":"é","method":"m"}`, `"é"`, "m", ""},
		{`{"id":"","method":"m"}`, `""`, "m", ""},
		{`{"id":"\"\\","method":"m"}`, `"\"\\"`, "m", ""},
		{`{"id":"\ud800","method":"m"}`, `"\ud800"`, "m", ""},
		{`{"\u0069d":7,"m\u0065thod":"p\u0069ng"}`, `7`, "ping", ""},
		{`{"id":7,"method":"","other":1,"other":2,"ID":"x"}`, `7`, "", ""},
		{`{"id":7,"method":"m","x":"id","y":{"id":1,"method":2,"params":3}}`, `7`, "m", ""},
		{`{"id":7,"method":"m","x":` + nested("[", "", "]", wire.MaxDepth-1) + `}`, `7`, "m", ""},
		{`{"id":7,"method":"m","x":"` + strings.Repeat("[{", wire.MaxDepth) + `\"[\\"}`, `7`, "m", ""},
	} {
		r := one(c.line)
		if r.Fault != nil || string(r.ID) != c.id || r.Name != c.name || r.RawParams != c.params || r.Size != len(c.line) {
			t.Errorf("%.80s:\ngot %v, id %q, name %q, params %q, size %d", c.line, r.Fault, r.ID, r.Name, r.RawParams, r.Size)
		}
	}
}

func TestBadJSON(t *testing.T) {
	for _, line := range []string{
		`x`, `{`, `{"id":1`, `{"id":1,}`, `{'id':1}`, `{id:1}`, `[1,]`, `"`, `nul`, `NaN`, `-`, `01`, `1.`, `.5`, `+1`, `1e`,
		`{"id":1}{"id":2}`, `{"id":1} x`, `{"id":"\x"}`, `{"id":"\u12g4"}`, "{\"id\":\"\t\"}", "{\"id\":\"\x00\"}", "{\"id\":1}\x00",
		"\xef\xbb\xbf{}", "// {}", `{"id":1 "method":"m"}`, `{"id" 1}`, `{1:2}`, `]`, `}`,
		// Invalid UTF-8, wherever it stands.
		"\xff", "{\"id\":1,\"method\":\"\xff\"}", "{\"id\":\"\xc3\",\"method\":\"m\"}", "{\"\xed\xa0\x80\":1}",
		"{\"id\":1,\"method\":\"m\",\"params\":{\"input\":\"a\xc0\x80b\"}}", "{\"id\":1,\"method\":\"m\"}\xe2\x82", "{\"id\":1,\"method\":\"\xf4\x90\x80\x80\"}",
		// One level too deep.
		nested("[", "", "]", wire.MaxDepth+1), `{"id":7,"method":"m","x":` + nested("[", "", "]", wire.MaxDepth) + `}`,
		nested(`{"a":`, "1", "}", wire.MaxDepth+1), strings.Repeat("[", wire.MaxDepth), strings.Repeat("[", 4*wire.MaxDepth),
	} {
		if r := one(line); r.Fault == nil || r.Fault.Code != wire.CodeInvalidJSON || r.ID != "" {
			t.Errorf("%.80q: got %v, id %q", line, r.Fault, r.ID)
		}
	}
}

func TestInvalidRequests(t *testing.T) {
	for _, c := range []struct{ line, id, says string }{
		{`1`, "", "no object"}, {`"{}"`, "", "no object"}, {`null`, "", "no object"}, {`true`, "", "no object"}, {`[{"id":1,"method":"ping"}]`, "", "no object"},
		{nested("[", "", "]", wire.MaxDepth), "", "no object"},
		{`{}`, "", "id"}, {`{"method":"ping"}`, "", "id"},
		{`{"id":null,"method":"ping"}`, "", "id"}, {`{"id":{"a":1},"method":"ping"}`, "", "id"}, {`{"id":[1],"method":"ping"}`, "", "id"},
		{`{"id":true,"method":"ping"}`, "", "id"}, {`{"id":false,"method":"ping"}`, "", "id"},
		{`{"id":1}`, "1", "method"}, {`{"id":"a","method":1}`, `"a"`, "method"}, {`{"id":"a","method":null}`, `"a"`, "method"},
		{`{"id":"a","method":["ping"]}`, `"a"`, "method"}, {`{"id":"a","method":{}}`, `"a"`, "method"},
		{`{"id":2,"method":"ping","params":null}`, "2", "params"}, {`{"id":2,"method":"ping","params":[]}`, "2", "params"},
		{`{"id":2,"method":"ping","params":"{}"}`, "2", "params"}, {`{"id":2,"method":"ping","params":0}`, "2", "params"},
		{`{"id":1,"id":1,"method":"ping"}`, "", "id stands twice"}, {`{"id":1,"\u0069d":2,"method":"ping"}`, "", "id stands twice"},
		{`{"id":1,"id":null,"method":"ping"}`, "", "id stands twice"}, {`{"id":null,"id":1,"method":"ping"}`, "", "id stands twice"},
		{`{"id":1,"method":"a","id":2,"method":"b"}`, "", "id stands twice"},
		{`{"id":1,"method":"a","method":"a"}`, "1", "method stands twice"}, {`{"method":null,"\u006dethod":"a","id":1}`, "1", "method stands twice"},
		{`{"params":{},"id":1,"method":"a","params":{}}`, "1", "params stands twice"}, {`{"params":{},"id":1,"method":"a","p\u0061rams":null}`, "1", "params stands twice"},
		{`{"id":null,"method":"a","method":"b"}`, "", "method stands twice"},
	} {
		r := one(c.line)
		if r.Fault == nil || r.Fault.Code != wire.CodeInvalidRequest || string(r.ID) != c.id || !strings.Contains(r.Fault.Message, c.says) {
			t.Errorf("%.80s: got %v, id %q", c.line, r.Fault, r.ID)
		}
	}
}

func TestTooLongLine(t *testing.T) {
	p := NDJSON{MaxLineBytes: limit}
	got := p.Apply(&wire.Lines{Items: []wire.Line{{TooLong: true}, {Bytes: []byte(`{"id":1,"method":"ping"}`)}}}).Items
	if f := got[0].Fault; f == nil || f.Code != wire.CodeInvalidRequest || got[0].ID != "" || !strings.Contains(f.Message, "1000 bytes") {
		t.Errorf("the long line: %v, id %q", f, got[0].ID)
	}
	if got[1].Fault != nil || got[1].Name != "ping" {
		t.Errorf("the line behind it: %v", got[1].Fault)
	}
}

// TestBigLines are the lines on which a parser that recurses or looks back dies.
func TestBigLines(t *testing.T) {
	const longest, size = 16 << 20, 1 << 20
	for name, c := range map[string]struct {
		line []byte
		code wire.Code
	}{
		"brackets": {bytes.Repeat([]byte("["), longest), wire.CodeInvalidJSON},
		"braces":   {bytes.Repeat([]byte(`{"a":`), size/5), wire.CodeInvalidJSON},
		"quotes":   {bytes.Repeat([]byte(`"`), size), wire.CodeInvalidJSON},
		"escapes":  {bytes.Repeat([]byte(`\`), size), wire.CodeInvalidJSON},
		"closing":  {bytes.Repeat([]byte("]"), size), wire.CodeInvalidJSON},
		"spaces":   {bytes.Repeat([]byte(" "), size), wire.CodeInvalidJSON},
		"pairs":    {[]byte("[" + strings.Repeat("[],", size/3) + "[]]"), wire.CodeInvalidRequest},
		"input":    {[]byte(`{"id":1,"method":"chat","params":{"input":"` + strings.Repeat("a", longest) + `"}}`), ""},
		"escaped":  {[]byte(`{"id":1,"method":"chat","params":{"input":"` + strings.Repeat(`\"`, size/2) + `"}}`), ""},
		"members":  {[]byte(`{"id":1,"method":"chat"` + strings.Repeat(`,"a":1`, size/6) + `}`), ""},
	} {
		p := NDJSON{MaxLineBytes: longest}
		r := p.Apply(&wire.Lines{Items: []wire.Line{{Bytes: c.line}}}).Items[0]
		var code wire.Code
		if r.Fault != nil {
			code = r.Fault.Code
		}
		if code != c.code || r.Size != len(c.line) {
			t.Errorf("%s: got %q, size %d", name, code, r.Size)
		}
	}
}

// TestBatches parses several lines at once, twice with the same parser: nothing is left over.
func TestBatches(t *testing.T) {
	p := NDJSON{}
	for range 2 {
		got := p.Apply(&wire.Lines{Items: []wire.Line{{Bytes: []byte(`{"id":1,"method":"a","params":{"x":1}}`)}, {Bytes: []byte(`{`)}, {Bytes: []byte(`{"id":2,"method":"b"}`)}}}).Items
		if len(got) != 3 || got[0].RawParams != `{"x":1}` || got[1].Fault == nil || got[1].ID != "" || got[2].Fault != nil || got[2].RawParams != "" || got[2].ID != "2" {
			t.Fatalf("got %+v", got)
		}
	}
}

func TestParsingAllocatesNothing(t *testing.T) {
	p := NDJSON{}
	lines := &wire.Lines{Items: []wire.Line{
		{Bytes: []byte(`{"id":"ping-1","method":"ping","params":{}}`)},
		{Bytes: []byte(`{"id":17,"method":"chat","params":{"input":"Why \"streams\"?\n"}}`)},
	}}
	if n := testing.AllocsPerRun(100, func() { p.Apply(lines) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

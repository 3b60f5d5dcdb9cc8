package parse

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/internal/wire"
)

// FuzzParse compares with encoding/json: what is JSON, and what the members of a message are.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"ping"}`, `{"id":"a\u00e9","method":"chat","params":{"input":"x","a":[1,{"b":null}]}}`, `[`, `{"id":1,"\u0069d":2}`,
		`{"id":{},"method":1,"params":[]}`, "\xff", `{"id":"\ud83d\ude00","method":"m","params":{}}`, ` {"id" : -1.5e3 , "method":"x" } `,
		strings.Repeat("[", 513) + strings.Repeat("]", 513), `{"params":{},"params":{},"id":7,"method":"m"}`, `"id"`, `{"id":1,"method":"a"}x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		kept := bytes.Clone(line)
		got, want := one(string(line)), oracle(kept)
		if !bytes.Equal(line, kept) {
			t.Fatal("the line was changed")
		}
		code := wire.Code("")
		if got.Fault != nil {
			code = got.Fault.Code
		}
		if code != want.code || string(got.ID) != want.id {
			t.Fatalf("got %q, id %q; want %q, id %q", code, got.ID, want.code, want.id)
		}
		if code == "" && (got.Name != want.name || got.RawParams != want.params) {
			t.Fatalf("got name %q, params %q; want %q, %q", got.Name, got.RawParams, want.name, want.params)
		}
	})
}

// reading is what a line says: a code, or name and params.
type reading struct {
	code             wire.Code
	id, name, params string
}

func oracle(line []byte) reading {
	if !utf8.Valid(line) || !json.Valid(line) || depth(line) > wire.MaxDepth {
		return reading{code: wire.CodeInvalidJSON}
	}
	values := map[string][]string{}
	decoder := json.NewDecoder(bytes.NewReader(line))
	if token, _ := decoder.Token(); token != json.Delim('{') {
		return reading{code: wire.CodeInvalidRequest}
	}
	for decoder.More() {
		key, _ := decoder.Token()
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			panic(err)
		}
		values[key.(string)] = append(values[key.(string)], string(value))
	}
	return read(values["id"], values["method"], values["params"])
}

func read(id, method, params []string) (r reading) {
	if len(id) == 1 && strings.ContainsAny(id[0][:1], `"-0123456789`) {
		r.id = id[0]
	}
	if r.id == "" || len(method) != 1 || method[0][0] != '"' || len(params) > 1 || len(params) == 1 && params[0][0] != '{' {
		r.code = wire.CodeInvalidRequest
		return r
	}
	if err := json.Unmarshal([]byte(method[0]), &r.name); err != nil {
		panic(err)
	}
	if len(params) == 1 {
		r.params = params[0]
	}
	return r
}

// depth is how deep valid JSON is nested.
func depth(line []byte) (deepest int) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	for at := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return deepest
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			at++
		case json.Delim(']'), json.Delim('}'):
			at--
		}
		deepest = max(deepest, at)
	}
}

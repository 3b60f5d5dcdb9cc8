package testkit

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	cases := []struct{ want, got, fault string }{
		{`{"a":1,"b":[true,null]}`, ` { "b" : [ true , null ], "a" : 1 } `, ""},
		{`{"a":"*","b":"*","c":"*"}`, `{"a":{"x":1},"b":null,"c":"text"}`, ""},
		{`{"a":"*"}`, `{}`, "$.a is missing"},
		{`{}`, `{"a":2}`, "$.a is there, 2, and not wanted"},
		{`{"a":[1,2]}`, `{"a":[1,3]}`, "$.a[1] is 3; want 2"},
		{`{"a":[1,2]}`, `{"a":[1]}`, "$.a has 1 elements, [1]; want 2"},
		{`{"a":{}}`, `{"a":[]}`, "$.a is []; want {}"},
		{`{"a":[]}`, `{"a":null}`, "$.a is null; want []"},
		{`1`, `1.0`, "$ is 1.0; want 1"},
		{`9007199254740993`, `9007199254740992`, "$ is 9007199254740992; want 9007199254740993"},
		{`1`, `"1"`, `$ is "1"; want 1`},
		{`"**"`, `"x"`, `$ is "x"; want "**"`},
		{`"\u00e9"`, `"é"`, ""},
		{`{`, `{}`, "the wanted line is no JSON"},
		{`{}`, `log line`, "the line is no JSON"},
		{`{}`, `{} {}`, "something follows"},
	}
	for _, c := range cases {
		err := Match([]byte(c.want), []byte(c.got))
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s against %s: %v; want %q", c.got, c.want, err, c.fault)
		}
	}
}

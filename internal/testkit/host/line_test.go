package host

import (
	"testing"

	"github.com/tidwall/gjson"
)

func TestCheckLine(t *testing.T) {
	for line, good := range map[string]bool{
		`{"id":1}`:               true,
		`{"id":"\u0085\u2028é"}`: true,
		"{\"id\":\"\u0085\"}":    false,
		"{\"id\":\"\u2028\"}":    false,
		"{\"id\":\"\u2029\"}":    false,
		"{\"id\":\"\xff\"}":      false,
		"{\"id\":\t1}":           false,
		`{"id":1`:                false,
		`{"id":1}{"id":2}`:       false,
		`[1]`:                    false,
		``:                       false,
	} {
		if err := checkLine([]byte(line)); (err == nil) != good {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestFinals(t *testing.T) {
	f := finals{}
	for _, step := range []struct {
		line string
		good bool
	}{
		{`{"id":1,"type":"event"}`, true},
		{`{"id":null,"type":"error"}`, true},
		{`{"id":null,"type":"error"}`, true},
		{`{"id":1,"type":"result"}`, true},
		{`{"id":"1","type":"event"}`, true},
		{`{"id":1,"type":"event"}`, false},
		{`{"id":1,"type":"error"}`, false},
	} {
		if err := f.check(gjson.Parse(step.line)); (err == nil) != step.good {
			t.Errorf("%s: %v", step.line, err)
		}
	}
}

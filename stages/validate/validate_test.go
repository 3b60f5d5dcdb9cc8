package validate

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"sluice/internal/wire"
)

// one validates the params of a single request.
func one(method, params string) wire.Request {
	return NDJSON(&wire.Requests{Items: []wire.Request{{ID: "1", Name: method, RawParams: params}}}).Items[0]
}

func TestGoodParams(t *testing.T) {
	for _, c := range []struct {
		method, params string
		want           any
	}{
		{"initialize", ``, &wire.InitializeParams{}},
		{"initialize", `{}`, &wire.InitializeParams{}},
		{"initialize", `{"protocol_versions":[]}`, &wire.InitializeParams{Versions: []int64{}}},
		{"initialize", `{"protocol_versions":[2,1.0,-3],"capabilities":{}}`, &wire.InitializeParams{Versions: []int64{2, 1, -3}}},
		{"initialize", `{"capabilities":{"extensions":["offsets","r\u0065asoning"],"x":1}}`, &wire.InitializeParams{Extensions: []string{"offsets", "reasoning"}}},
		{"initialize", `{"capabilities.extensions":7,"extensions":1}`, &wire.InitializeParams{}},
		{"chat", ``, &wire.ChatParams{}},
		{"chat", `{"user_id":"u","session_id":"s","agent":"a","input":"i","resume":true,"approve_execution":true}`,
			&wire.ChatParams{UserID: "u", SessionID: "s", Agent: "a", Input: "i", Resume: true, ApproveExecution: true}},
		{"chat", `{"resume":false,"approve_execution":false,"input":""}`, &wire.ChatParams{}},
		{"chat", `{"\u0069nput":"a\n\"\u00e9\ud83d\ude00é"}`, &wire.ChatParams{Input: "a\n\"é😀é"}},
		{"chat", `{"input":"\ud800x"}`, &wire.ChatParams{Input: "\ufffdx"}},
		{"chat", `{"unknown":null,"Input":7,"x":{"input":1},"input":"i"}`, &wire.ChatParams{Input: "i"}},
		{"cancel", ``, &wire.CancelParams{}},
		{"cancel", `{"request_id":1.0}`, &wire.CancelParams{Target: "1.0"}},
		{"cancel", `{"request_id": "\u00e9" }`, &wire.CancelParams{Target: `"\u00e9"`}},
		{"cancel", `{"request_id":""}`, &wire.CancelParams{Target: `""`}},
		{"warmup", `{}`, &wire.WarmupParams{}},
		{"warmup", `{"agent":"a","x":[]}`, &wire.WarmupParams{Agent: "a"}},
		{"plan", ``, &wire.PlanParams{}},
		{"plan", `{"agent":"a","x":1}`, &wire.PlanParams{Agent: "a"}},
		{"doctor", `{}`, &wire.DoctorParams{}},
		{"doctor", `{"agent":"\u00e9"}`, &wire.DoctorParams{Agent: "é"}},
		{"approve", `{"request_id":"c1","call_id":"é","decision":"once"}`, &wire.ApproveParams{Target: `"c1"`, CallID: "é", Decision: wire.DecisionOnce}},
		{"approve", `{"decision":"s\u0065ssion","call_id":"","request_id":1.0,"x":1}`, &wire.ApproveParams{Target: "1.0", Decision: wire.DecisionSession}},
		{"approve", `{"request_id":0,"call_id":"c","decision":"deny"}`, &wire.ApproveParams{Target: "0", CallID: "c", Decision: wire.DecisionDeny}},
		{"ping", `{"input":1}`, nil}, {"shutdown", ``, nil}, {"stats", `{}`, nil}, {"dance", `{"input":1}`, nil},
	} {
		r := one(c.method, c.params)
		if r.Fault != nil || !reflect.DeepEqual(r.Params, c.want) {
			t.Errorf("%s %s: got %+v, %v; want %+v", c.method, c.params, r.Params, r.Fault, c.want)
		}
	}
}

// wrongFor are values that are none of a type.
var wrongFor = map[string][]string{
	"a string":                {`null`, `1`, `true`, `[]`, `{}`, `["a"]`},
	"true or false":           {`null`, `1`, `0`, `"true"`, `[]`, `{}`},
	"a string or a number":    {`null`, `true`, `false`, `[]`, `{}`},
	"an object":               {`null`, `1`, `"x"`, `true`, `[]`},
	"a list of strings":       {`null`, `1`, `"offsets"`, `true`, `{}`, `[1]`, `["offsets",null]`, `[["offsets"]]`, `[{}]`, `["a",true]`},
	"a list of whole numbers": {`null`, `1`, `"1"`, `true`, `{}`, `["1"]`, `[1,null]`, `[1.5]`, `[[1]]`, `[1e999]`, `[9007199254740993]`, `[true]`},
}

func TestWronglyTypedParams(t *testing.T) {
	for _, c := range []struct{ method, param, want string }{
		{"initialize", "protocol_versions", "a list of whole numbers"},
		{"initialize", "capabilities", "an object"},
		{"initialize", "capabilities.extensions", "a list of strings"},
		{"chat", "user_id", "a string"}, {"chat", "session_id", "a string"}, {"chat", "agent", "a string"}, {"chat", "input", "a string"},
		{"chat", "resume", "true or false"}, {"chat", "approve_execution", "true or false"},
		{"cancel", "request_id", "a string or a number"},
		{"warmup", "agent", "a string"}, {"plan", "agent", "a string"}, {"doctor", "agent", "a string"},
	} {
		for _, value := range wrongFor[c.want] {
			params := `{"a":"b","` + strings.ReplaceAll(c.param, ".", `":{"`) + `":` + value + strings.Repeat("}", 1+strings.Count(c.param, "."))
			r := one(c.method, params)
			if r.Fault == nil || r.Fault.Code != wire.CodeInvalidRequest || r.Fault.Message != "params."+c.param+" must be "+c.want {
				t.Errorf("%s %s: got %v", c.method, params, r.Fault)
			}
		}
	}
}

// TestApproveNeedsAllParams: each that is missing or wrong is named, the first one of several.
func TestApproveNeedsAllParams(t *testing.T) {
	good := map[string]string{"request_id": `1`, "call_id": `"c"`, "decision": `"once"`}
	wants := map[string]string{"request_id": "a string or a number", "call_id": "a string", "decision": "one of once, session, deny"}
	for name, want := range wants {
		wrong := append([]string{""}, wrongFor[want]...)
		if name == "decision" {
			wrong = append(wrong, `null`, `1`, `true`, `["once"]`, `{}`, `""`, `"Once"`, `"once "`, `"always"`)
		}
		for _, value := range wrong {
			var members []string
			for other, text := range good {
				if other == name {
					text = value
				}
				if text != "" {
					members = append(members, `"`+other+`":`+text)
				}
			}
			params := "{" + strings.Join(members, ",") + "}"
			if r := one("approve", params); r.Fault == nil || r.Fault.Code != wire.CodeInvalidRequest || r.Fault.Message != "params."+name+" must be "+want {
				t.Errorf("%s: got %v", params, r.Fault)
			}
		}
	}
	if r := one("approve", ``); r.Fault == nil || !strings.HasPrefix(r.Fault.Message, "params.request_id ") {
		t.Errorf("got %v", r.Fault)
	}
}

func TestFirstFaultStands(t *testing.T) {
	if r := one("chat", `{"input":1,"user_id":2}`); r.Fault == nil || !strings.HasPrefix(r.Fault.Message, "params.user_id ") {
		t.Errorf("got %v", r.Fault)
	}
	earlier := wire.NewFault(wire.CodeInvalidJSON, "earlier")
	batch := &wire.Requests{Items: []wire.Request{{Name: "chat", RawParams: `{"input":1}`, Fault: earlier}, {Name: "warmup"}}}
	if got := NDJSON(batch).Items; got[0].Fault != earlier || got[0].Params != nil || got[1].Params == nil {
		t.Errorf("got %+v", got)
	}
}

// TestNothingIsBorrowed changes the line after validation, as the source does.
func TestNothingIsBorrowed(t *testing.T) {
	for method, params := range map[string]string{
		"chat":       `{"user_id":"abcd","input":"abcd"}`,
		"cancel":     `{"request_id":"abcd"}`,
		"warmup":     `{"agent":"abcd"}`,
		"plan":       `{"agent":"abcd"}`,
		"doctor":     `{"agent":"abcd"}`,
		"approve":    `{"request_id":"abcd","call_id":"abcd","decision":"once"}`,
		"initialize": `{"capabilities":{"extensions":["abcd"]}}`,
	} {
		line := []byte(params)
		r := one(method, unsafe.String(&line[0], len(line)))
		want := one(method, params)
		clear(line)
		if !reflect.DeepEqual(r.Params, want.Params) {
			t.Errorf("%s: got %+v; want %+v", method, r.Params, want.Params)
		}
	}
}

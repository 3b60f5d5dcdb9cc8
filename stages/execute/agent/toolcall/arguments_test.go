package toolcall

import (
	"strings"
	"testing"

	"sluice/internal/wire"
)

func TestServedArguments(t *testing.T) {
	for name, c := range map[string]struct {
		args, want string // want empty: a problem that holds problem
		problem    string
	}{
		"as it should be":        {`{"path":"a.txt","lines":3}`, `{"path":"a.txt","lines":3}`, ""},
		"blanks":                 {" {\n  \"path\" : \"a b\",\r\n\t\"x\": [ 1 , 2 ]\n}\n", `{"path":"a b","x":[1,2]}`, ""},
		"nothing":                {"", `{}`, ""},
		"only blanks":            {" \n", `{}`, ""},
		"null":                   {"null", `{}`, ""},
		"None":                   {"None", `{}`, ""},
		"empty object":           {"{ }", `{}`, ""},
		"numbers stay":           {`{"a":9007199254740993,"b":1.0,"c":-0.5e+10}`, `{"a":9007199254740993,"b":1.0,"c":-0.5e+10}`, ""},
		"comma at the end":       {`{"a":[1,2,],"b":2,}`, `{"a":[1,2],"b":2}`, ""},
		"fence":                  {"```json\n{\"a\":1}\n```", `{"a":1}`, ""},
		"fence without label":    {"```\n{\"a\":1}```", `{"a":1}`, ""},
		"fence never closed":     {"```json\n{\"a\":1}", `{"a":1}`, ""},
		"backticks in a text":    {"{\"a\":\"```\\nx\\n```\"}", "{\"a\":\"```\\nx\\n```\"}", ""},
		"single quotes":          {`{'a': 'say "hi"', 'b': 'it\'s'}`, `{"a":"say \"hi\"","b":"it's"}`, ""},
		"Python's mixed quotes":  {`{'a': "it's", 'b': None, 'c': True, 'd': [False]}`, `{"a":"it's","b":null,"c":true,"d":[false]}`, ""},
		"names without quotes":   {`{path: "a", $x_1: 2, max-len: 3}`, `{"path":"a","$x_1":2,"max-len":3}`, ""},
		"comments":               {"{ // the file\n\"a\": 1, /* and */ \"b\": 2 # end\n}", `{"a":1,"b":2}`, ""},
		"a comment in a text":    {`{"url":"https://x/#a","b":"/* c */"}`, `{"url":"https://x/#a","b":"/* c */"}`, ""},
		"raw control characters": {"{\"a\":\"one\ntwo\tthree\x01\"}", `{"a":"one\ntwo\tthree\u0001"}`, ""},
		"line separators":        {"{\"a\":\"x\u2028y\u0085z\"}", `{"a":"x\u2028y\u0085z"}`, ""},
		"escapes in other ways":  {`{"\u0061":"\/\u00e9\ud83d\ude00"}`, `{"a":"/é😀"}`, ""},
		"half a pair":            {`{"a":"\ud83d"}`, "{\"a\":\"\ufffd\"}", ""},
		"invalid UTF-8":          {"{\"a\":\"x\xff\"}", "{\"a\":\"x\ufffd\"}", ""},
		"bracket missing":        {`{"a":{"b":[1,2`, `{"a":{"b":[1,2]}}`, ""},
		"one bracket missing":    {`{"a":{"b":"c"}`, `{"a":{"b":"c"}}`, ""},
		"brackets too many":      {`{"a":{"b":1}}}`, `{"a":{"b":1}}`, ""},
		"in a string":            {`"{\"a\":\"b\\n\"}"`, `{"a":"b\n"}`, ""},
		"in a string twice":      {`"\"{\\\"a\\\":1}\""`, `{"a":1}`, ""},
		"empty string":           {`""`, `{}`, ""},
		"in a string, repaired":  {`"{'a': 1,}"`, `{"a":1}`, ""},
		"twice the same":         {`{"a":1,"b":{"c":2},"b":{ "c":2 },"\u0061":1}`, `{"a":1,"b":{"c":2}}`, ""},

		"twice, not the same":         {`{"a":1,"a":2}`, "", "“\"a\"” stands twice"},
		"twice by another escape":     {`{"a":1,"\u0061":"1"}`, "", "stands twice"},
		"in a string too often":       {`"\"\\\"{}\\\"\""`, "", "not a JSON object"},
		"text not closed":             {`{"a":"rm -rf /tmp/x`, "", "not closed"},
		"text not closed, bracket":    {`{"a":"x}`, "", "not closed"},
		"ends behind a comma":         {`{"a":1,`, "", "ends inside an object"},
		"ends behind a colon":         {`{"a":`, "", "value is missing"},
		"ends behind a name":          {`{"a"`, "", "colon"},
		"ends at once":                {`{`, "", "ends inside an object"},
		"ends at once, a list":        {`{"a":[`, "", "value is missing"},
		"ends in a word":              {`{"a":tr`, "", "text without quotes"},
		"ends in a number":            {`{"a":1e`, "", "no JSON number"},
		"comma missing":               {`{"a":1 "b":2}`, "", "comma"},
		"two commas":                  {`{"a":1,,"b":2}`, "", "name in double quotes"},
		"comma first":                 {`{,"a":1}`, "", "name in double quotes"},
		"quotes inside a text":        {`{"a":"he said "hi" twice"}`, "", "near “{\"a\":\"he said \"hi\" twice\"}”"},
		"apostrophe in single quotes": {`{'a': 'it's'}`, "", "comma"},
		"a bare word":                 {`{"a":hello}`, "", "text without quotes"},
		"a name that is a number":     {`{1:2}`, "", "name in double quotes"},
		"long characters":             {`{"a":` + strings.Repeat("€", 100) + `}`, "", "€€€"},
		"NaN":                         {`{"a":NaN}`, "", "text without quotes"},
		"hexadecimal":                 {`{"a":0x1F}`, "", "no JSON number"},
		"zero first":                  {`{"a":007}`, "", "no JSON number"},
		"an escape that is none":      {`{"a":"C:\Users"}`, "", `\\`},
		"half an escape":              {`{"a":"\u12"}`, "", `\\`},
		"brackets crossed":            {`{"a":[1}`, "", "comma"},
		"a list":                      {`[1]`, "", "not a JSON object"},
		"a number":                    {`1`, "", "not a JSON object"},
		"a text":                      {`"hello"`, "", "text without quotes"},
		"prose before":                {`Here: {"a":1}`, "", "text without quotes"},
		"prose behind":                {`{"a":1} as you asked`, "", "more text"},
		"two objects":                 {`{"a":1}{"a":1}`, "", "more text"},
		"object, then markup":         {`{"a":1}</tool_call>`, "", "more text"},
		"a comment without end":       {`{"a":1 /* x}`, "", "comma"},
		"triple quotes":               {`{"a":"""x"""}`, "", "comma"},
		"too deep":                    {strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600), "", "deeper than 512"},
		"too deep, lists":             {`{"a":` + strings.Repeat(`[`, 1<<20), "", "deeper than 512"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Read(Step{Text: "Hi.", Calls: []wire.ToolCall{{ID: "x", Function: "fs__list", Arguments: c.args}}, Tools: offered})
			if got.Text != "Hi." {
				t.Errorf("the text became %q", got.Text)
			}
			if c.want != "" {
				if len(got.Problems) != 0 || shown(got.Calls) != "fs__list"+c.want {
					t.Errorf("got %s, problems %q; want %s", shown(got.Calls), got.Problems, c.want)
				}
				return
			}
			if len(got.Calls) != 0 || len(got.Problems) != 1 || !strings.Contains(got.Problems[0], c.problem) {
				t.Errorf("got %s, problems %q; want one with %q", shown(got.Calls), got.Problems, c.problem)
			}
		})
	}
}

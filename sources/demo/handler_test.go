package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// volatile matches what differs from run to run.
var volatile = regexp.MustCompile(`("(?:created|time_ms|\w+_ms|\w+_per_second)":)[0-9.]+|("id":)"chatcmpl-\w+"`)

// TestStreamLooksLikeTheRealOne compares whole streams with what a llama-server
// sends, member by member in its order.
func TestStreamLooksLikeTheRealOne(t *testing.T) {
	const (
		head     = `{"finish_reason":null,"index":0,"delta":`
		common   = `"created":0,"id":"","model":"sluice-demo","system_fingerprint":"demo","object":"chat.completion.chunk"`
		role     = `{"choices":[` + head + `{"role":"assistant","content":null}}],` + common
		finish   = `{"choices":[{"finish_reason":"length","index":0,"delta":{}}],` + common
		timings  = `"timings":{"cache_n":0,"prompt_n":21,"prompt_ms":0,"prompt_per_token_ms":0,"prompt_per_second":0,"predicted_n":2,"predicted_ms":0,"predicted_per_token_ms":0,"predicted_per_second":0}}`
		usage    = `{"choices":[],` + common + `,"usage":{"completion_tokens":2,"prompt_tokens":21,"total_tokens":23,"prompt_tokens_details":{"cached_tokens":0}},`
		progress = role + `,"prompt_progress":{"total":21,"cache":0,"processed":%d,"time_ms":0}}`
	)
	token := func(text string) string {
		return `{"choices":[` + head + `{"content":"` + text + `"}}],` + common + `}`
	}
	tests := []struct {
		name, members string
		want          []string
	}{
		{"plain", ``, []string{role + `}`, token("A B"), token(" C"), finish + `,` + timings}},
		{"usage and progress", `,"stream_options":{"include_usage":true},"return_progress":true`, []string{
			fmt.Sprintf(progress, 0), fmt.Sprintf(progress, 21), role + `}`, token("A B"), token(" C"), finish + `}`, usage + timings}},
	}
	model := Build("A B C D.")
	for _, test := range tests {
		_, client := startDemo(t, Options{TokensPerSecond: -1, Model: model})
		_, got := post(t, client, "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"max_tokens":2,"stream":true`+test.members+`}`)
		var want strings.Builder
		for _, event := range append(test.want, "[DONE]") {
			want.WriteString("data: " + event + "\n\n")
		}
		if got = volatile.ReplaceAllStringFunc(got, blank); got != want.String() {
			t.Errorf("%s: got\n%swant\n%s", test.name, got, want.String())
		}
	}
}

func blank(member string) string {
	name, value, _ := strings.Cut(member, ":")
	if strings.HasPrefix(value, `"`) {
		return name + `:""`
	}
	return name + ":0"
}

func TestBadRequests(t *testing.T) {
	_, client := startDemo(t, Options{})
	long, _ := json.Marshal(strings.Repeat("x", contextLength))
	tests := []struct {
		name, body string
		status     int
		want       string // in the answer
	}{
		{"no messages", `{}`, 400, `{"error":{"code":400,"message":"'messages' is required","type":"invalid_request_error"}}`},
		{"messages null", `{"messages":null}`, 400, `Expected 'messages' to be an array`},
		{"messages no array", `{"messages":"hi"}`, 400, `Expected 'messages' to be an array`},
		{"message no object", `{"messages":[5]}`, 400, `"invalid_request_error"`},
		{"content no text", `{"messages":[{"role":"user","content":5}]}`, 400, `"invalid_request_error"`},
		{"parts no objects", `{"messages":[{"role":"user","content":[5]}]}`, 400, `"invalid_request_error"`},
		{"no JSON", `{"messages":`, 500, `"type":"server_error"`},
		{"empty", ``, 500, `"type":"server_error"`},
		{"wrong type", `{"messages":[],"seed":"x"}`, 500, `"type":"server_error"`},
		{"too long", `{"messages":[{"role":"user","content":` + string(long) + `}]}`, 400, `"type":"exceed_context_size_error","n_prompt_tokens":327`},
	}
	for _, test := range tests {
		status, body := post(t, client, "/v1/chat/completions", test.body)
		if status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d %s, want %d with %s", test.name, status, body, test.status, test.want)
		}
	}
	if busy, _ := busySlots(t, client); busy != 0 {
		t.Errorf("%d slots are busy after refused requests", busy)
	}
}

func TestPaths(t *testing.T) {
	_, client := startDemo(t, Options{Slots: 5})
	for path, want := range map[string]string{
		"/health":              `{"status":"ok"}`,
		"/props":               `"total_slots":5`,
		"/v1/models":           `"id":"sluice-demo"`,
		"/slots":               `[{"id":0,"n_ctx":32768,"speculative":false,"is_processing":false},`,
		"/nothing":             `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`,
		"/v1/chat/completions": `"code":404`,
	} {
		status, body := get(t, client, path)
		if wanted := map[bool]int{true: 404, false: 200}[strings.Contains(want, "404")]; status != wanted || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %d with %s", path, status, body, wanted, want)
		}
	}
	if status, body := post(t, client, "/v1/embeddings", `{"input":"x"}`); status != 501 || !strings.Contains(body, "not_supported_error") {
		t.Errorf("embeddings: %d %s", status, body)
	}
}

func TestTokenizePath(t *testing.T) {
	_, client := startDemo(t, Options{Model: Build("a pipe waits.")})
	for body, want := range map[string]string{
		`{"content":"a pipe waits."}`: `{"tokens":[265,266,264]}`,
		`{"content":"A\n"}`:           `{"tokens":[68,13]}`,
		`{}`:                          `{"tokens":[]}`,
		`{"content":5}`:               `"type":"server_error"`,
	} {
		if _, got := post(t, client, "/tokenize", body); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

type chatAnswer struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct{ Content string }
	}
	Usage struct {
		CompletionTokens int `json:"completion_tokens"`
	}
}

func TestWholeAnswerEqualsTheStream(t *testing.T) {
	_, client := startDemo(t, Options{TokensPerSecond: -1})
	const question = `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"What is a pipe?"}]}],"seed":3`
	_, body := post(t, client, "/v1/chat/completions", question+`}`)
	var whole chatAnswer
	if err := json.Unmarshal([]byte(body), &whole); err != nil {
		t.Fatal(err)
	}
	_, events := post(t, client, "/v1/chat/completions", question+`,"stream":true}`)
	var text strings.Builder
	tokens := 0
	for _, match := range regexp.MustCompile(`"delta":\{"content":"([^"]*)"`).FindAllStringSubmatch(events, -1) {
		text.WriteString(match[1])
		tokens++
	}
	choice := whole.Choices[0]
	if choice.Message.Content != text.String() || tokens != whole.Usage.CompletionTokens || choice.FinishReason != "stop" {
		t.Errorf("whole answer %s, stream %q in %d tokens", body, text.String(), tokens)
	}
	if len(strings.Fields(text.String())) < 3 {
		t.Errorf("too short: %q", text.String())
	}
}

func TestSeedTemperatureAndLimit(t *testing.T) {
	_, client := startDemo(t, Options{TokensPerSecond: -1})
	ask := func(question, members string) chatAnswer {
		t.Helper()
		_, body := post(t, client, "/v1/chat/completions", `{"messages":[{"role":"user","content":"`+question+`"}]`+members+`}`)
		var answer chatAnswer
		if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Choices) != 1 {
			t.Fatalf("%s: %v", body, err)
		}
		return answer
	}
	content := func(question, members string) string { return ask(question, members).Choices[0].Message.Content }
	for _, test := range []struct {
		name, question1, members1, question2, members2 string
		equal                                          bool
	}{
		{"again", "hi", ``, "hi", ``, true},
		{"another question", "hi", ``, "ho", ``, false},
		{"same seed", "hi", `,"seed":1`, "hi", `,"seed":1`, true},
		{"another seed", "hi", `,"seed":1`, "hi", `,"seed":2`, false},
		{"no luck at temperature 0", "hi", `,"temperature":0,"seed":1`, "ho", `,"temperature":0,"seed":2`, true},
		{"random seed is none", "hi", `,"seed":-1`, "hi", `,"seed":4294967295`, true},
	} {
		first, second := content(test.question1, test.members1), content(test.question2, test.members2)
		if (first == second) != test.equal {
			t.Errorf("%s: %q and %q", test.name, first, second)
		}
	}
	for members, want := range map[string]int{
		`,"max_tokens":7`: 7, `,"max_completion_tokens":5,"max_tokens":7`: 5, `,"n_predict":1`: 1, `,"max_tokens":40,"ignore_eos":true`: 40,
	} {
		answer := ask("hi", members)
		if answer.Usage.CompletionTokens != want || answer.Choices[0].FinishReason != "length" {
			t.Errorf("%s: %+v", members, answer)
		}
	}
}

func TestHistoryChangesTheAnswer(t *testing.T) {
	_, client := startDemo(t, Options{TokensPerSecond: -1})
	contents := map[string]bool{}
	for _, before := range []string{``, `{"role":"system","content":"Be brief."},`, `{"role":"system","content":"Be kind."},`} {
		_, body := post(t, client, "/v1/chat/completions", `{"messages":[`+before+`{"role":"user","content":"hi"}]}`)
		var answer chatAnswer
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		contents[answer.Choices[0].Message.Content] = true
	}
	if len(contents) != 3 {
		t.Errorf("three histories, answers %v", contents)
	}
}

func TestContextBoundsAnEndlessAnswer(t *testing.T) {
	_, client := startDemo(t, Options{TokensPerSecond: -1})
	_, body := post(t, client, "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"ignore_eos":true}`)
	var answer chatAnswer
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	if got := answer.Usage.CompletionTokens; got >= contextLength || got < contextLength-100 || answer.Choices[0].FinishReason != "length" {
		t.Errorf("%d tokens, %q", got, answer.Choices[0].FinishReason)
	}
}

func FuzzChatRequest(f *testing.F) {
	for _, body := range []string{
		`{}`, `[]`, `{"messages":[]}`, `{"messages":[{"role":"user","content":null}],"temperature":1e300}`,
		`{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}},{}]}],"tools":[{"function":{"parameters":{"a": ["\ud83d"]}}}]}`,
		`{"messages":[{"content":[{}, {"text":"a"}]}],"seed":-5,"max_tokens":-1}`, `{"messages":[null],"temperature":1e-300}`,
	} {
		f.Add(body)
	}
	model := Build("A pipe waits. It waits, and then it runs. A pipe runs.")
	f.Fuzz(func(t *testing.T, body string) {
		_, client := startDemo(t, Options{TokensPerSecond: -1, Model: model})
		client.Timeout = time.Minute
		status, answer := post(t, client, "/v1/chat/completions", body)
		if status != 200 && status != 400 && status != 500 {
			t.Errorf("status %d", status)
		}
		if !strings.HasPrefix(answer, "data: ") && !json.Valid([]byte(answer)) {
			t.Errorf("answer %q", answer)
		}
	})
}

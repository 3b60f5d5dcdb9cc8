//go:build unix

package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"sluice/internal/testkit/fakellama"
	"sluice/internal/testkit/host"
)

func TestPipelinedPings(t *testing.T) {
	t.Parallel()
	const n = 100_000
	e, _ := attached(t, "", host.Options{})
	var input strings.Builder
	for i := range n {
		input.WriteString(`{"id":` + numbered("", i) + `,"method":"ping"}` + "\n")
	}
	e.Raw(input.String())
	e.CloseStdin()
	wantExit(t, e, 0)
	messages := e.Messages()
	if len(messages) != n {
		t.Fatalf("%d replies to %d pings", len(messages), n)
	}
	for i, m := range messages {
		if m.Get("id").Raw != numbered("", i) || m.Get("result.status").Str != "ok" {
			t.Fatalf("reply %d is %s", i, m.Raw)
		}
	}
}

func TestOverlongLineIsNotKept(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	e, _ := attached(t, "input: {max_line_bytes: 64KiB}\n", host.Options{})
	e.Raw(`{"id":"long","method":"ping","params":{"x":"`)
	piece := strings.Repeat("a", mib)
	for i := range 256 {
		e.Raw(piece)
		if i%32 == 31 {
			if rss := residentMiB(t, e.PID()); rss > 64 {
				t.Fatalf("%d MiB are used after %d MiB of a line", rss, i+1)
			}
		}
	}
	e.Raw("\"}}\n")
	wantAlive(t, e)
	m := e.Messages()[0]
	if m.Get("code").Str != "invalid_request" || m.Get("id").Raw != "null" || len(e.Messages()) != 2 {
		t.Errorf("the line was answered %s", m.Raw)
	}
}

// Every line that is not blank gets exactly one answer, whatever it holds.
func TestGarbageIsAnsweredLineByLine(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	e, _ := attached(t, "input: {max_line_bytes: 64KiB}\n", host.Options{})
	var input strings.Builder
	lines := 0
	for input.Len() < 8<<20 {
		line := garbage(random)
		if strings.Trim(line, " \t\r") != "" {
			lines++
		}
		input.WriteString(line + "\n")
	}
	e.Raw(input.String())
	e.CloseStdin()
	wantExit(t, e, 0)
	if n := len(e.Messages()); n != lines {
		t.Errorf("%d answers to %d lines", n, lines)
	}
}

// garbage returns a line without a newline: noise of up to a mebibyte, or a ping with bytes changed
// that keep it a ping, a fault or noise, never a chat.
func garbage(random *rand.Rand) string {
	line := []byte(`{"id":` + numbered("", random.IntN(1<<30)) + `,"method":"ping","params":{"é":[1,{"a":null}]}}`)
	if random.IntN(200) == 0 {
		line = make([]byte, random.IntN(1<<20))
		for i := range line {
			line[i] = byte(random.Uint32())
		}
	}
	for range random.IntN(4) {
		if len(line) > 0 {
			line[random.IntN(len(line))] = byte(random.Uint32())
		}
	}
	return strings.ReplaceAll(string(line), "\n", "\t")
}

func TestBadRequestsOnTheWire(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "", host.Options{Reused: true})
	for line, want := range map[string]string{
		`{"id":1`:                               `null invalid_json`,
		"\xff":                                  `null invalid_json`,
		strings.Repeat("[", 513):                `null invalid_json`,
		`[]`:                                    `null invalid_request`,
		`{"id":2}`:                              `2 invalid_request`,
		`{"id":3,"method":"x"}`:                 `3 unknown_method`,
		`{"id":4,"method":"ping","params":[]}`:  `4 invalid_request`,
		`{"method":"ping"}`:                     `null invalid_request`,
		`{"id":{},"method":"ping"}`:             `null invalid_request`,
		`{"id":5,"id":6,"method":"ping"}`:       `null invalid_request`,
		`{"id":7,"method":"ping","method":"x"}`: `7 invalid_request`,
		`{"id":8,"method":"chat","params":{"input":1}}`:        `8 invalid_request`,
		`{"id":9,"method":"chat","params":{"agent":"nobody"}}`: `9 invalid_request`,
	} {
		before := len(e.Messages())
		e.Raw(line + "\n" + `{"id":"` + numbered("after", before) + `","method":"ping"}` + "\n")
		e.Result(numbered("after", before))
		m := e.Messages()[before]
		if got := m.Get("id").Raw + " " + m.Get("code").Str; got != want && m.Get("id").Raw != "5" {
			t.Errorf("%.80s: got %s, want %s", line, m.Raw, want)
		}
	}
	if n := server.Most(); n != 0 {
		t.Errorf("%d requests reached the model", n)
	}
}

func TestIDsComeBackAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	e, _ := attached(t, "", host.Options{})
	ids := []string{`9007199254740993`, `1.0`, `1`, `"1"`, `-0`, `1e400`, `"\u00e9"`, `"é"`, `"\ud83d\ude00"`, `""`}
	for _, id := range ids {
		e.Raw(`{"id":` + id + `,"method":"chat","params":{"input":"n=1"}}` + "\n")
		e.Wait(id, func(m host.Message) bool { return m.Get("type").Str == "result" && m.Get("id").Raw == id })
	}
}

func TestByteOrderMarkAndLineEnds(t *testing.T) {
	t.Parallel()
	e, _ := attached(t, "", host.Options{})
	e.Raw("\xef\xbb\xbf" + `{"id":"1","method":"ping"}` + "\r\n\r\n \t\n\n" + `{"id":"2","method":"ping"}`)
	e.CloseStdin()
	wantExit(t, e, 0)
	if len(e.Messages()) != 2 {
		t.Errorf("%d answers", len(e.Messages()))
	}
	e.Result("1")
	e.Result("2")
}

func TestChatWithMuchInput(t *testing.T) {
	t.Parallel()
	e, server := attached(t, "", host.Options{})
	input := "n=3 " + strings.Repeat("é\"\\\u2028 ", 1<<17)
	e.Chat("c", input)
	wantWhole(t, e, "c", fakellama.Text("n=3"))
	request := server.WaitAnswers(1)[0].Request
	if got := gjson.Get(request, `messages.#(role=="user").content`).String(); got != input {
		t.Errorf("%d of %d bytes reached the model", len(got), len(input))
	}
	if got := e.Event("c", "run_start").Get("user_input").String(); got != input {
		t.Errorf("run_start tells %d bytes", len(got))
	}
}

package verify

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sluice/internal/bench/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	eventLine  = `{"id":"1","type":"event","event":"%s","step":0}` + "\n"
	chunkLine  = `{"id":"1","type":"event","event":"llm_chunk","step":0,"delta":"%s"}` + "\n"
	resultLine = `{"id":"1","type":"result","result":{"response":"%s","session_id":"s"}}` + "\n"
	frameLine  = `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"%s"}}],"created":1796040001}` + "\n"
)

// text returns the tokens with the given sequence numbers.
func text(sequences ...int) string {
	token := make([]byte, tokens.PlainWidth)
	var all strings.Builder
	for _, sequence := range sequences {
		tokens.PutPlain(token, sequence)
		all.Write(token)
	}
	return all.String()
}

func upTo(count int) []int {
	sequences := make([]int, count)
	for i := range sequences {
		sequences[i] = i
	}
	return sequences
}

func chunks(sequences ...int) string {
	var lines strings.Builder
	for _, sequence := range sequences {
		fmt.Fprintf(&lines, chunkLine, text(sequence))
	}
	return lines.String()
}

func result(count int) string { return fmt.Sprintf(resultLine, text(upTo(count)...)) }

func check(options Options, output string) *Report {
	options.ID = `"1"`
	stream := NewStream(options)
	for line := range strings.SplitAfterSeq(output, "\n") {
		if line != "" {
			stream.ReadLines([]byte(line), 1000)
		}
	}
	return stream.Report()
}

func TestWholeStreamIsAccepted(t *testing.T) {
	many := 20_000 // the response is longer than what is checked at once
	for name, test := range map[string]struct {
		count  int
		output string
		chunks int
	}{
		"a token a line": {4, fmt.Sprintf(eventLine, "run_start") + chunks(0, 1, 2, 3) + result(4), 4},
		"merged tokens":  {4, fmt.Sprintf(chunkLine, text(0)) + fmt.Sprintf(chunkLine, text(1, 2, 3)) + result(4), 2},
		"escaped delta":  {2, fmt.Sprintf(chunkLine, `\u0020`+text(0)[1:]) + chunks(1) + result(2), 2},
		"other requests": {1, chunks(0) + `{"id":"2","type":"result","result":{}}` + "\n" + result(1), 1},
		"a long answer":  {many, chunks(upTo(many)...) + result(many), many},
		"a long chunk":   {many, fmt.Sprintf(chunkLine, text(upTo(many)...)) + result(many), 1},
	} {
		report := check(Options{Tokens: test.count}, test.output)
		if err := report.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if report.Tokens != test.count || report.Chunks != test.chunks || report.FinalAt != 1000 {
			t.Errorf("%s: %d tokens in %d chunks, final at %d", name, report.Tokens, report.Chunks, report.FinalAt)
		}
	}
}

func TestEveryDamageIsDetected(t *testing.T) {
	for name, test := range map[string]struct{ output, want string }{
		"lost chunk":           {chunks(0, 1, 3) + result(4), "1 tokens lost"},
		"lost first chunk":     {chunks(1, 2, 3) + result(4), "1 tokens lost"},
		"lost last chunk":      {chunks(0, 1, 2) + result(4), "1 tokens lost"},
		"all chunks lost":      {result(4), "4 tokens lost"},
		"repeated chunk":       {chunks(0, 1, 1, 2, 3) + result(4), "token 1 after token 1"},
		"repeated in a merge":  {chunks(0) + fmt.Sprintf(chunkLine, text(1, 2, 2, 3)) + result(4), "token 2 after token 2"},
		"reordered chunks":     {chunks(0, 2, 1, 3) + result(4), "token 1 after token 2"},
		"too many tokens":      {chunks(0, 1, 2, 3, 4) + result(4), "5 tokens arrived"},
		"cut delta":            {chunks(0, 1) + fmt.Sprintf(chunkLine, text(2)[:3]) + chunks(3) + result(4), "a delta that was never sent"},
		"damaged delta":        {chunks(0, 1) + fmt.Sprintf(chunkLine, " 00é") + chunks(3) + result(4), "a delta that was never sent"},
		"damaged line":         {chunks(0, 1) + strings.Replace(chunks(2), "}", "", 1) + chunks(3) + result(4), "not JSON"},
		"unknown type":         {chunks(0, 1, 2, 3) + `{"id":"1","type":"x"}` + "\n" + result(4), "unknown type"},
		"no line end":          {chunks(0, 1, 2, 3) + strings.TrimSuffix(result(4), "\n"), "a line without its end"},
		"no final line":        {chunks(0, 1, 2, 3), "no final line"},
		"two final lines":      {chunks(0, 1, 2, 3) + result(4) + result(4), "a second final line"},
		"event after final":    {result(4) + chunks(0, 1, 2, 3), "an event after the final line"},
		"short response":       {chunks(0, 1, 2, 3) + result(3), "a response of 15 bytes"},
		"reordered response":   {chunks(0, 1, 2, 3) + fmt.Sprintf(resultLine, text(0, 2, 1, 3)), "where token 1 was sent"},
		"the chat's own error": {chunks(0, 1, 2, 3) + `{"id":"1","type":"error","code":"internal_error","message":"m"}` + "\n", "ended in an error"},
	} {
		err := check(Options{Tokens: 4}, test.output).Err()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestDamageInLongLinesIsDetected(t *testing.T) {
	many := 20_000
	sequences := upTo(many)
	sequences[many-1], sequences[many-2] = many-2, many-1
	for name, output := range map[string]string{
		"response": chunks(upTo(many)...) + fmt.Sprintf(resultLine, text(sequences...)),
		"chunk":    fmt.Sprintf(chunkLine, text(sequences...)) + result(many),
		"JSON":     chunks(upTo(many)...) + strings.Replace(result(many), "}", "", 1),
		"event": chunks(upTo(many)...) + `{"id":"1","type":"event","event":"final","step":0,"response":"` +
			text(sequences...) + `"}` + "\n" + result(many),
	} {
		if err := check(Options{Tokens: many}, output).Err(); err == nil {
			t.Errorf("%s: nothing was detected", name)
		}
	}
}

func TestCopiedFramesAreRead(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nf3\r\n"
	frames := fmt.Sprintf(frameLine, text(0)) + "\n\r\nf3\r\n" + fmt.Sprintf(frameLine, text(1)) + "\n\r\n"
	end := "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
	options := Options{Format: SSE, Tokens: 2}
	if report := check(options, head+frames+end); report.Err() != nil || report.Chunks != 2 {
		t.Errorf("%d chunks, %v", report.Chunks, report.Err())
	}
	if err := check(options, head+frames).Err(); err == nil {
		t.Error("a missing end was not detected")
	}
	options.Tokens = 3
	if err := check(options, head+frames+end).Err(); err == nil {
		t.Error("a lost frame was not detected")
	}
}

func TestLatencyIsFromSendingToReceipt(t *testing.T) {
	token := make([]byte, tokens.TimedWidth)
	var output strings.Builder
	for sequence := range 3 {
		tokens.PutTimed(token, sequence, int64(900-sequence))
		fmt.Fprintf(&output, chunkLine, token)
	}
	report := check(Options{Tokens: 3, Timed: true}, output.String())
	if got := fmt.Sprint(report.Latencies); got != "[100 101 102]" {
		t.Errorf("latencies are %s", got)
	}
}

func TestRepliesMatchTheirRequests(t *testing.T) {
	one, two := `{"id":1,"type":"result","result":{}}`+"\n", `{"id":"2","type":"result","result":{}}`+"\n"
	for name, test := range map[string]struct {
		output string
		faulty bool
	}{
		"in order":     {one + two, false},
		"out of order": {two + one, false},
		"twice":        {one + one, true},
		"an error":     {`{"id":1,"type":"error","code":"overloaded"}` + "\n", true},
		"not JSON":     {`{"id":1` + "\n", true},
	} {
		replies := NewReplies(2)
		replies.ReadLines([]byte(test.output), 7)
		<-replies.Done()
		if _, _, err := replies.Last(); (err != nil) != test.faulty {
			t.Errorf("%s: %v", name, err)
		}
	}
}

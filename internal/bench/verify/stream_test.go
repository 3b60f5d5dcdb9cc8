package verify

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"sluice/internal/bench/latency"
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

func check(sent int, options Options, output string) *Report {
	options.ID = `"1"`
	stream := NewStream(options)
	for line := range strings.SplitAfterSeq(output, "\n") {
		if line != "" {
			stream.ReadLines([]byte(line), 1000)
		}
	}
	return stream.Report(sent)
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
		report := check(test.count, Options{}, test.output)
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
		err := check(4, Options{}, test.output).Err()
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
		if err := check(many, Options{}, output).Err(); err == nil {
			t.Errorf("%s: nothing was detected", name)
		}
	}
}

func TestCopiedFramesAreRead(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nf3\r\n"
	frames := fmt.Sprintf(frameLine, text(0)) + "\n\r\nf3\r\n" + fmt.Sprintf(frameLine, text(1)) + "\n\r\n"
	end := "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
	options := Options{Format: SSE}
	if report := check(2, options, head+frames+end); report.Err() != nil || report.Chunks != 2 {
		t.Errorf("%d chunks, %v", report.Chunks, report.Err())
	}
	if err := check(2, options, head+frames).Err(); err == nil {
		t.Error("a missing end was not detected")
	}
	if err := check(3, options, head+frames+end).Err(); err == nil {
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
	latencies := latency.New()
	if err := check(3, Options{Timed: true, Latency: latencies}, output.String()).Err(); err == nil {
		t.Error("tokens without a final line are accepted")
	}
	got := fmt.Sprint(latencies.Count(), latencies.Microseconds(0.1), latencies.Microseconds(1))
	if want := "3 0.1 0.102"; got != want {
		t.Errorf("latencies are %s, want %s", got, want)
	}
}

func TestReaderThatGoesAwayMissesNothing(t *testing.T) {
	if report := check(4, Options{Cut: true}, chunks(0, 1)); report.Err() != nil || report.Tokens != 2 {
		t.Errorf("%+v", report)
	}
	if err := check(4, Options{Cut: true}, chunks(0, 2)).Err(); err == nil {
		t.Error("a lost token was not detected")
	}
}

func TestDropsAreCountedWhereTheyAreAllowed(t *testing.T) {
	report := check(5, Options{Lossy: true}, chunks(0, 3)+result(5))
	if report.Err() != nil || report.Lost != 3 || report.Tokens != 2 {
		t.Errorf("%+v", report)
	}
	if err := check(5, Options{Lossy: true}, chunks(0, 3)+result(4)).Err(); err == nil {
		t.Error("a response that lost text was not detected")
	}
}

func TestReceivedTokensAreAddedUp(t *testing.T) {
	var received atomic.Int64
	for range 2 {
		check(3, Options{Received: &received}, chunks(0, 1, 2)+result(3))
	}
	if received.Load() != 6 {
		t.Errorf("%d tokens, want 6", received.Load())
	}
}

func TestFreeTextIsRepeatedByItsResponse(t *testing.T) {
	free := Options{FreeText: true}
	output := fmt.Sprintf(chunkLine, "Hé\\n") + fmt.Sprintf(chunkLine, "llo") + fmt.Sprintf(resultLine, "H\\u00e9\\nllo")
	if report := check(FreeTextTokens, free, output); report.Err() != nil || report.Tokens != 2 || report.FirstAt == 0 {
		t.Errorf("%+v", report)
	}
	for name, faulty := range map[string]string{
		"missing text": strings.Replace(output, "llo", "l", 1),
		"no delta":     strings.Replace(output, `"delta"`, `"text"`, 1),
		"no end":       fmt.Sprintf(chunkLine, "Hello"),
	} {
		if err := check(FreeTextTokens, free, faulty).Err(); err == nil {
			t.Errorf("%s was not detected", name)
		}
	}
}

func TestSplitGivesEachStreamItsLines(t *testing.T) {
	one, two := NewStream(Options{ID: `"1"`}), NewStream(Options{ID: `"2"`})
	split := NewSplit([]*Stream{one, two})
	second := func(lines string) string { return strings.ReplaceAll(lines, `"id":"1"`, `"id":"2"`) }
	output := chunks(0, 1) + second(chunks(0)) + `{"id":null,"type":"event","event":"progress"}` + "\n" +
		chunks(2) + second(chunks(1)+result(2)) + `{"id":"3","type":"result","result":{}}` + "\n" + result(3)
	split.ReadLines([]byte(output), 1)
	for count, stream := range map[int]*Stream{3: one, 2: two} {
		<-stream.Done()
		if report := stream.Report(count); report.Err() != nil || report.Tokens != count || report.Lines != count+1 {
			t.Errorf("stream of %d: %+v", count, report)
		}
	}
}

func TestSplitFindsFaultWithStrays(t *testing.T) {
	for _, stray := range []string{"{\n", "x", `{"id":"1`, `{"id":"1",`, "\n"} {
		stream := NewStream(Options{ID: `"1"`})
		NewSplit([]*Stream{stream}).ReadLines([]byte(chunks(0)+stray), 1)
		if report := stream.Report(1); report.Faults == 0 {
			t.Errorf("%q is no fault", stray)
		}
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

package load

import (
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"sluice/internal/bench/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startServer returns the URL of a server and a client without idle connections that outlive the test.
func startServer(t *testing.T) (string, *http.Client) {
	t.Helper()
	server, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return "http://" + server.Address(), client
}

func fetch(t *testing.T, client *http.Client, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func chat(t *testing.T, client *http.Client, url, steer, more string) string {
	t.Helper()
	body := `{"messages":[{"role":"user","content":` + strconv.Quote(steer) + `}],"stream":true` + more + `}`
	status, text := fetch(t, client, http.MethodPost, url+"/v1/chat/completions", body)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, text)
	}
	return text
}

// shape reduces JSON to its member names in their order and the kinds of the values.
func shape(value gjson.Result) string {
	if !value.IsObject() && !value.IsArray() {
		return value.Type.String()
	}
	var parts []string
	value.ForEach(func(name, member gjson.Result) bool {
		parts = append(parts, name.Raw+":"+shape(member))
		return true
	})
	return "{" + strings.Join(parts, ",") + "}"
}

// frameShapes returns the shape of each SSE frame; what isn't JSON stands for itself.
func frameShapes(stream string) []string {
	var shapes []string
	for frame := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		data := strings.TrimPrefix(frame, "data: ")
		if gjson.Valid(data) && gjson.Parse(data).IsObject() {
			data = shape(gjson.Parse(data))
		}
		shapes = append(shapes, data)
	}
	return shapes
}

func TestStreamHasTheShapeOfTheRecording(t *testing.T) {
	url, client := startServer(t)
	for _, test := range []struct{ recording, steer, more string }{
		{"chat.sse", "n=1", ""},
		{"chat.sse", "n=1 rate=1000", ""},
		{"chat-usage.sse", "n=1", `,"return_progress":true,"stream_options":{"include_usage":true}`},
	} {
		recorded, err := os.ReadFile("testdata/" + test.recording)
		if err != nil {
			t.Fatal(err)
		}
		want := frameShapes(string(recorded))
		got := frameShapes(chat(t, client, url, test.steer, test.more))
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", test.steer, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestTokensArriveInOrderOverBlockBorders(t *testing.T) {
	url, client := startServer(t)
	for _, count := range []int{1, blockTokens - 1, blockTokens, blockTokens + 1, 3*blockTokens + 17} {
		next := 0
		for frame := range strings.SplitSeq(chat(t, client, url, "n="+strconv.Itoa(count), ""), "\n\n") {
			content := gjson.Get(strings.TrimPrefix(frame, "data: "), "choices.0.delta.content")
			if content.Type != gjson.String {
				continue
			}
			if sequence, ok := tokens.Sequence([]byte(content.String())); !ok || sequence != next {
				t.Fatalf("n=%d: token %d is %q", count, next, content)
			}
			next++
		}
		if next != count {
			t.Errorf("n=%d: %d tokens arrived", count, next)
		}
	}
}

func TestPacedTokensCarryAscendingTimes(t *testing.T) {
	url, client := startServer(t)
	last, count := int64(0), 0
	for frame := range strings.SplitSeq(chat(t, client, url, "n=20 rate=5000", ""), "\n\n") {
		content := gjson.Get(strings.TrimPrefix(frame, "data: "), "choices.0.delta.content")
		if content.Type != gjson.String {
			continue
		}
		sentAt, ok := tokens.SentAt([]byte(content.String()))
		if !ok || sentAt <= last {
			t.Fatalf("token %q after one of %d", content, last)
		}
		last = sentAt
		count++
	}
	if count != 20 {
		t.Errorf("%d tokens arrived, want 20", count)
	}
}

func TestCreatedFollowsTheClock(t *testing.T) {
	b := newBlock(newIdentity(), 3, tokens.PlainWidth, 1_796_040_001)
	b.number(0)
	b.date(1_796_040_002)
	if count := strings.Count(string(b.bytes), `,"created":1796040002,"id":`); count != 3 {
		t.Errorf("%d of 3 frames have the new second:\n%s", count, b.bytes)
	}
	if FrameBytes(tokens.PlainWidth) != b.stride {
		t.Errorf("FrameBytes = %d, a frame has %d bytes", FrameBytes(tokens.PlainWidth), b.stride)
	}
}

func TestUnpacedWritesAreBetween16And64KiB(t *testing.T) {
	size := len(newBlock(newIdentity(), blockTokens, tokens.PlainWidth, time.Now().Unix()).bytes)
	if size < 16<<10 || size > 64<<10 {
		t.Errorf("a write has %d bytes", size)
	}
}

func TestOtherRoutes(t *testing.T) {
	url, client := startServer(t)
	for _, test := range []struct {
		method, path, body string
		status             int
		query, want        string
	}{
		{"GET", "/health", "", 200, "status", "ok"},
		{"GET", "/props", "", 200, "total_slots", "1024"},
		{"GET", "/slots", "", 200, "0.is_processing", "false"},
		{"GET", "/v1/models", "", 200, "data.0.id", "bigram"},
		{"GET", "/bench/streams", "", 200, "#", "0"},
		{"GET", "/bench/sent", "", 200, "@this", "0"},
		{"GET", "/nowhere", "", 404, "error.type", "not_found_error"},
		{"POST", "/v1/chat/completions", "{", 400, "error.type", "invalid_request_error"},
		{"POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"n=0"}]}`, 400, "error.code", "400"},
	} {
		status, body := fetch(t, client, test.method, url+test.path, test.body)
		if got := gjson.Get(body, test.query).String(); status != test.status || got != test.want {
			t.Errorf("%s %s: %d %s, want %d with %s %s", test.method, test.path, status, body, test.status, test.query, test.want)
		}
	}
}

func TestStreamStatisticsWaitForTheEnd(t *testing.T) {
	url, client := startServer(t)
	chat(t, client, url, "n=300 name=a", "")
	_, body := fetch(t, client, http.MethodGet, url+"/bench/streams", "")
	stats := gjson.Parse(body)
	if stats.Get("0.tokens").Int() != 300 || stats.Get("0.name").Str != "a" || !stats.Get("0.complete").Bool() ||
		stats.Get("0.last_at").Int() < stats.Get("0.first_at").Int() {
		t.Errorf("statistics are %s", body)
	}
}

func TestStreamStopsAfterItsTime(t *testing.T) {
	url, client := startServer(t)
	for number, steer := range []string{"n=16000000 for=20ms", "n=16000000 rate=1000 for=20ms", "n=16000000 rate=50 for=1ms"} {
		stream := chat(t, client, url, steer, "")
		frames := strings.Count(stream, `"delta":{"content":"`)
		_, body := fetch(t, client, http.MethodGet, url+"/bench/streams?count="+strconv.Itoa(number+1), "")
		stats := gjson.Get(body, strconv.Itoa(number))
		if sent := int(stats.Get("tokens").Int()); sent < 1 || sent > 15_000_000 || sent != frames || !stats.Get("complete").Bool() {
			t.Errorf("%s: %d frames, %s", steer, frames, stats)
		}
		if !strings.HasSuffix(stream, doneFrame) || !strings.Contains(stream, `"predicted_n":`+strconv.Itoa(frames)+",") {
			t.Errorf("%s: the stream ends with %q", steer, stream[len(stream)-100:])
		}
	}
	_, sent := fetch(t, client, http.MethodGet, url+"/bench/sent", "")
	_, streams := fetch(t, client, http.MethodGet, url+"/bench/streams", "")
	if sum := gjson.Get(streams, "0.tokens").Int() + gjson.Get(streams, "1.tokens").Int() + gjson.Get(streams, "2.tokens").Int(); gjson.Parse(sent).Int() != sum {
		t.Errorf("%s tokens were sent, the streams have %d", sent, sum)
	}
}

func TestClientThatLeavesEndsItsStream(t *testing.T) {
	url, client := startServer(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	body := `{"messages":[{"role":"user","content":"n=16000000"}]}`
	request := "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	_, stats := fetch(t, client, http.MethodGet, url+"/bench/streams", "")
	if gjson.Get(stats, "0.complete").Bool() || gjson.Get(stats, "#").Int() != 1 {
		t.Errorf("statistics are %s, want one broken stream", stats)
	}
}

func TestParseRequestReadsTheLastUserMessage(t *testing.T) {
	body := `{"messages":[{"role":"user","content":"n=5"},{"role":"assistant","content":"n=6"},` +
		`{"role":"user","content":[{"type":"text","text":"say n=7"},{"type":"text","text":"rate=2.5 for=3s name=x"}]}]}`
	got, err := parseRequest([]byte(body))
	if want := (request{count: 7, rate: 2.5, during: 3 * time.Second, name: "x"}); err != nil || got != want {
		t.Errorf("parseRequest = %+v, %v, want %+v", got, err, want)
	}
}

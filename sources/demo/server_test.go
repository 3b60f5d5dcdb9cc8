package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// startDemo starts a server and a client for it; both end with the test.
func startDemo(t testing.TB, options Options) (*Server, *http.Client) {
	t.Helper()
	server := Start(options)
	client := &http.Client{Transport: &http.Transport{DialContext: server.DialContext, ReadBufferSize: 64 << 10}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return server, client
}

func get(t testing.TB, client *http.Client, path string) (status int, body string) {
	t.Helper()
	return answerOf(t)(client.Get("http://demo" + path))
}

func post(t testing.TB, client *http.Client, path, body string) (status int, answer string) {
	t.Helper()
	return answerOf(t)(client.Post("http://demo"+path, "application/json", strings.NewReader(body)))
}

func answerOf(t testing.TB) func(*http.Response, error) (int, string) {
	return func(response *http.Response, err error) (int, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
}

// openStream sends a chat and returns its events; the caller cancels or reads all.
func openStream(ctx context.Context, t testing.TB, client *http.Client, body string) *bufio.Scanner {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, "POST", "http://demo/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("status %d, content type %q", response.StatusCode, kind)
	}
	return bufio.NewScanner(response.Body)
}

func busySlots(t testing.TB, client *http.Client) (busy, all int) {
	t.Helper()
	var list []struct {
		Processing bool `json:"is_processing"`
	}
	_, body := get(t, client, "/slots")
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	for _, slot := range list {
		if slot.Processing {
			busy++
		}
	}
	return busy, len(list)
}

const endlessChat = `{"messages":[{"role":"user","content":"go on"}],"stream":true,"ignore_eos":true}`

func TestPaceIsExact(t *testing.T) {
	for _, test := range []struct {
		rate float64
		want time.Duration
	}{{0, 5 * time.Millisecond}, {50, 20 * time.Millisecond}, {-1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			_, client := startDemo(t, Options{TokensPerSecond: test.rate})
			start, tokens := time.Now(), 0
			events := openStream(t.Context(), t, client, `{"messages":[{"role":"user","content":"x"}],"stream":true,"ignore_eos":true,"max_tokens":100}`)
			for events.Scan() {
				if strings.Contains(events.Text(), `"delta":{"content"`) {
					if got, want := time.Since(start), time.Duration(tokens)*test.want; got != want {
						t.Fatalf("token %d after %v, want %v", tokens, got, want)
					}
					tokens++
				}
			}
			if tokens != 100 {
				t.Errorf("%d tokens", tokens)
			}
		})
	}
}

func TestCreatedFollowsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := startDemo(t, Options{TokensPerSecond: 10})
		seen := map[int64]int{}
		events := openStream(t.Context(), t, client, `{"messages":[{"role":"user","content":"x"}],"stream":true,"ignore_eos":true,"max_tokens":30}`)
		for events.Scan() {
			var chunk struct{ Created int64 }
			if json.Unmarshal([]byte(strings.TrimPrefix(events.Text(), "data: ")), &chunk) == nil {
				seen[chunk.Created]++
				if chunk.Created != time.Now().Unix() {
					t.Fatalf("created %d at %d", chunk.Created, time.Now().Unix())
				}
			}
		}
		if len(seen) != 3 {
			t.Errorf("three seconds of tokens were created in %v", seen)
		}
	})
}

func TestClientThatLeavesFreesItsSlot(t *testing.T) {
	for name, rate := range map[string]float64{"paced": 0, "unpaced": -1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, client := startDemo(t, Options{TokensPerSecond: rate, Slots: 3})
				ctx, cancel := context.WithCancel(t.Context())
				events := openStream(ctx, t, client, endlessChat)
				events.Scan()
				if busy, all := busySlots(t, client); busy != 1 || all != 3 {
					t.Errorf("%d of %d slots busy in mid-stream", busy, all)
				}
				cancel()
				synctest.Wait()
				if busy, _ := busySlots(t, client); busy != 0 {
					t.Errorf("%d slots busy after the client left", busy)
				}
			})
		})
	}
}

func TestChatsBeyondTheSlotsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := startDemo(t, Options{Slots: 1})
		ctx, cancel := context.WithCancel(t.Context())
		openStream(ctx, t, client, endlessChat).Scan()
		waiting := make(chan int)
		go func() {
			status, _ := post(t, client, "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}]}`)
			waiting <- status
		}()
		impatient, giveUp := context.WithTimeout(t.Context(), time.Minute)
		defer giveUp()
		request, _ := http.NewRequestWithContext(impatient, "POST", "http://demo/chat/completions", strings.NewReader(endlessChat))
		if _, err := client.Do(request); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a chat without a slot: %v", err)
		}
		select {
		case status := <-waiting:
			t.Errorf("a second chat was answered (%d) beside the first", status)
		default:
		}
		cancel()
		if status := <-waiting; status != 200 {
			t.Errorf("status %d after the slot was freed", status)
		}
	})
}

func TestCloseEndsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := startDemo(t, Options{})
		events := openStream(t.Context(), t, client, endlessChat)
		events.Scan()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if server.http.Handler.(*handler).slots.busy[0].Load() {
			t.Error("a chat still runs when Close has returned")
		}
		for events.Scan() {
		}
		if events.Err() == nil {
			t.Error("the stream of a closed server ended as if it were complete")
		}
		if _, err := server.DialContext(t.Context(), "tcp", "demo:80"); !errors.Is(err, net.ErrClosed) {
			t.Errorf("dial after close: %v", err)
		}
	})
}

func TestDialGivesUpWithItsContext(t *testing.T) {
	listener := newPipeListener() // nobody accepts
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := listener.dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("dial: %v", err)
	}
}

func BenchmarkStream(b *testing.B) {
	_, client := startDemo(b, Options{TokensPerSecond: -1})
	b.ReportAllocs()
	const tokens = 10000
	for b.Loop() {
		response, err := client.Post("http://demo/v1/chat/completions", "application/json", strings.NewReader(
			`{"messages":[{"role":"user","content":"x"}],"stream":true,"ignore_eos":true,"max_tokens":10000}`))
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
	}
	b.ReportMetric(float64(b.N*tokens)/b.Elapsed().Seconds(), "tokens/s")
}

//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/testkit"
	"sluice/internal/testkit/host"
)

// talkative answers each request with more than it said it would, which net/http logs.
func talkative(t *testing.T) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				request, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, request.Body)
				const body = "data: [DONE]\n\n"
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%sand more", len(body), body)
				_, _ = in.ReadByte() // until the engine closes
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestWhatNetHTTPLogsIsALogLine(t *testing.T) {
	t.Parallel()
	e := spawn(t, "llama_server: {url: '"+talkative(t)+"'}\nlog: {level: debug}\n", host.Options{})
	e.Chat("c", "hi")
	e.Result("c")
	testkit.Until(t, "net/http's line in the log", func() bool { return strings.Contains(e.Stderr(), "Unsolicited response") })
	e.CloseStdin()
	wantExit(t, e, 0)
	for line := range strings.Lines(e.Stderr()) {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("stderr has the line %q", line)
		}
	}
}

package fakegateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// chat answers one chat.
func (s *Server) chat(w http.ResponseWriter, r *http.Request, text string) {
	id := gjson.Get(text, "interaction_id").String()
	script := parseScript(gjson.Get(text, "input_data"))
	switch status := script.number("status", http.StatusOK); {
	case script.has("mute"):
		s.hang(r)
		return
	case status != http.StatusOK:
		refuse(w, status, "refused "+script["msg"])
		return
	case script.has("json"):
		reply(w, http.StatusOK, Object{"detail": "no stream for you"})
		return
	case script.has("html"):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html>\n<title>Sign in</title>\n")
		return
	}
	stream := &stream{server: s, script: script, writer: w, request: r, interaction: id, stop: make(chan struct{})}
	s.set(func() { s.streams[stream] = true })
	defer stream.end()
	stream.run()
}

// stream writes one answer.
type stream struct {
	server      *Server
	script      script
	writer      http.ResponseWriter
	request     *http.Request
	interaction string
	batch       bytes.Buffer // frames that leave together
	failed      bool         // the client has gone
	died        bool
	stop        chan struct{} // closed when the run is stopped
	ended       bool          // stop is closed; the server's lock guards it
}

// end counts the stream out. The run of a client that went goes on.
func (s *stream) end() {
	s.server.set(func() {
		delete(s.server.streams, s)
		if s.failed {
			s.server.broken++
			s.server.runs[s.interaction] = !s.ended
		}
	})
	if s.died {
		panic(http.ErrAbortHandler)
	}
}

func (s *stream) run() {
	s.writer.Header().Set("Content-Type", "text/event-stream")
	s.writer.WriteHeader(http.StatusOK)
	s.writer.(http.Flusher).Flush() // the header leaves at once
	for _, f := range s.script.before() {
		s.put(f, true)
	}
	if !s.texts() {
		s.flush()
		return
	}
	for _, f := range s.script.behind() {
		s.put(f, true)
	}
	if s.script["end"] != "0" {
		s.put(frame{"", Object{"type": "end"}}, !s.script.has("nosep"))
	}
	for i := range s.script.number("tail", 0) {
		s.put(text(fmt.Sprintf(" late%d", i)), true)
	}
	s.flush()
}

// texts sends the texts; false means that the stream ends here.
func (s *stream) texts() bool {
	for i := range s.script.number("n", 20) {
		switch strconv.Itoa(i) {
		case s.script["die"]:
			s.died = true
			return false
		case s.script["hang"]:
			s.flush()
			s.failed = !s.wait(nil)
			return false
		case s.script["err"]:
			s.put(frame{"", Object{"type": "error", "detail": "node failed"}}, true)
		}
		if !s.rest() {
			return false
		}
		if s.script.has("bad") {
			s.put(bad[i%len(bad)], true)
		}
		if s.script.has("beat") {
			s.batch.WriteString(": heartbeat" + s.newline() + s.newline())
		}
		s.put(text(s.content(i)), true)
	}
	return true
}

// rest waits until the next text is due; it reports whether that came.
func (s *stream) rest() bool {
	rest := s.script.rest()
	if rest == 0 {
		return !s.failed && !s.stopped()
	}
	s.flush()
	timer := time.NewTimer(rest)
	defer timer.Stop()
	s.failed = s.failed || !s.wait(timer.C)
	return !s.failed && !s.stopped()
}

// wait waits until due or the run is stopped; false means that the client has gone or the server closes.
func (s *stream) wait(due <-chan time.Time) bool {
	select {
	case <-due:
	case <-s.stop:
	case <-s.request.Context().Done():
		return false
	case <-s.server.closed:
		return false
	}
	return true
}

func (s *stream) stopped() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// content is the i-th text.
func (s *stream) content(i int) string {
	switch {
	case s.script.has("tok"):
		return s.script["tok"]
	case s.script.has("uni"):
		return fmt.Sprintf(" 안녕%d🙂", i)
	case s.script.has("nel"):
		return fmt.Sprintf("\u2028%d\u2029\u0085", i)
	}
	return fmt.Sprintf(" w%d", i)
}

// put adds a frame to the batch, with the empty line behind it or without.
func (s *stream) put(f frame, whole bool) {
	data, ok := f.data.(string)
	if !ok {
		data = s.encode(f.data)
	}
	if f.name != "" {
		s.batch.WriteString("event: " + f.name + s.newline())
	}
	for line := range strings.SplitSeq(data, "\n") {
		s.batch.WriteString("data: " + line + s.newline())
	}
	if whole {
		s.batch.WriteString(s.newline())
	}
	if s.batch.Len() > 16<<10 {
		s.flush()
	}
}

func (s *stream) newline() string {
	if s.script.has("crlf") {
		return "\r\n"
	}
	return "\n"
}

// encode writes JSON as the script wants it.
func (s *stream) encode(data any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if s.script.has("multi") {
		encoder.SetIndent("", " ")
	}
	_ = encoder.Encode(data) // what a script holds always encodes
	line := strings.TrimSuffix(text.String(), "\n")
	line = strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(line)
	if s.script.has("spaces") {
		line = strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(line)
	}
	if s.script.has("ascii") {
		line = escaped(line)
	}
	return line
}

// escaped writes what isn't ASCII as JSON's escapes.
func escaped(text string) string {
	quoted := strconv.QuoteToASCII(text)
	// Go writes \U0001f642 where JSON has two units; the texts of a script need no more than that.
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\U0001f642`, `\ud83d\ude42`).Replace(quoted[1 : len(quoted)-1])
}

// flush sends the batch, whole or byte by byte.
func (s *stream) flush() {
	step := s.batch.Len()
	if s.script.has("frag") {
		step = 1
	}
	for s.batch.Len() > 0 && !s.failed {
		if _, err := s.writer.Write(s.batch.Next(step)); err != nil {
			s.failed = true
		}
		s.writer.(http.Flusher).Flush()
	}
	s.batch.Reset()
}

package fakellama

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// script is what one answer does, read from the user's text: words of the form name=value, others are
// ignored. A value may hold escapes as in URLs, such as %20 for a space.
type script struct {
	tokens int           // n=100: how many tokens; the default is 5, and none in a step that calls tools
	rest   time.Duration // rest=2ms: pause before each token
	text   string        // tok=ab: the text of each token; the default is " w0", " w1" and so on
	filler int           // size=4096: bytes of x behind the text of each token
	think  int           // think=3: reasoning tokens " t0", " t1" and so on before the first
	frag   bool          // frag=1: the stream leaves byte by byte
	status int           // status=500: answer this HTTP status
	at     int           // after how many tokens the fault comes
	fault  string        // die=3, hang=3, err=3 or cut=3: break the connection, fall silent, send an error frame, end early
	on     int           // on=1: status and fault are for this step of the turn alone, counted from 0; the default is -1, all

	calls    []call // call=NAME args=JSON: call a tool; several are called in one step; args, {} by default, belong to the last call
	times    int    // calls=2: each of the calls so often
	say      string // say=TEXT: write this in a step that would call, as models write calls as text
	again    int    // again=3: call, or say, in this many steps before the answer; the default is 1
	piece    int    // piece=1: bytes of arguments in a chunk; the default is 7
	overflow int    // overflow=100: refuse a prompt of more bytes than this, as one that is too long

	known bool // one of the words was there
	step  int  // how many steps of the turn are over
}

// call is a tool call that an answer makes.
type call struct{ function, arguments string }

func parseScript(text string) script {
	// What memory found of earlier turns stands before the user's own words.
	if i := strings.LastIndex(text, "</memory>"); i >= 0 {
		text = text[i:]
	}
	s := script{on: -1, times: 1, again: 1, piece: 7, tokens: -1}
	for word := range strings.FieldsSeq(text) {
		if name, value, ok := strings.Cut(word, "="); ok && s.set(name, value) {
			s.known = true
		}
	}
	return s
}

// set takes a word; it reports whether it is one of a script.
func (s *script) set(name, value string) bool {
	number, _ := strconv.Atoi(value)
	switch name {
	case "n":
		s.tokens = number
	case "rest":
		s.rest, _ = time.ParseDuration(value)
	case "tok":
		s.text = value
	case "size":
		s.filler = number
	case "think":
		s.think = number
	case "frag":
		s.frag = true
	case "status":
		s.status = number
	case "die", "hang", "err", "cut":
		s.fault, s.at = name, number
	case "on":
		s.on = number
	default:
		return s.setCall(name, value, number)
	}
	return true
}

func (s *script) setCall(name, value string, number int) bool {
	switch name {
	case "call":
		s.calls = append(s.calls, call{unescaped(value), "{}"})
	case "args":
		if len(s.calls) > 0 {
			s.calls[len(s.calls)-1].arguments = unescaped(value)
		}
	case "calls":
		s.times = number
	case "say":
		s.say = unescaped(value)
	case "again":
		s.again = number
	case "piece":
		s.piece = max(number, 1)
	case "overflow":
		s.overflow = number
	default:
		return false
	}
	return true
}

// unescaped reads a value's escapes; one that has none that can be read is taken as it is.
func unescaped(value string) string {
	if text, err := url.PathUnescape(value); err == nil {
		return text
	}
	return value
}

// calling reports whether this step calls tools, or writes a call.
func (s *script) calling() bool {
	return (len(s.calls) > 0 || s.say != "") && s.step < s.again
}

// inStep returns the script of one step: what the step doesn't do is taken out.
func (s script) inStep() script {
	if s.on >= 0 && s.on != s.step {
		s.status, s.fault = 0, ""
	}
	calling := s.calling()
	if !calling {
		s.calls, s.say = nil, ""
	}
	if s.tokens < 0 {
		s.tokens = 5
		if calling {
			s.tokens = 0
		}
	}
	return s
}

// token is the text of the i-th token.
func (s script) token(i int) string {
	text := s.text
	if text == "" {
		text = " w" + strconv.Itoa(i)
	}
	return text + strings.Repeat("x", s.filler)
}

// Text is the text of a turn's last answer to a user's text that steers no fault.
func Text(steer string) string {
	s := parseScript(steer)
	s.step = s.again
	s = s.inStep()
	var text strings.Builder
	for i := range s.tokens {
		text.WriteString(s.token(i))
	}
	return text.String()
}

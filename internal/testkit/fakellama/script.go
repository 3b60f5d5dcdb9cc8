package fakellama

import (
	"strconv"
	"strings"
	"time"
)

// script is what one answer does, read from the user's text: words of the form name=value, others are
// ignored.
type script struct {
	tokens int           // n=100: how many tokens; the default is 5
	rest   time.Duration // rest=2ms: pause before each token
	text   string        // tok=ab: the text of each token; the default is " w0", " w1" and so on
	filler int           // size=4096: bytes of x behind the text of each token
	think  int           // think=3: reasoning tokens " t0", " t1" and so on before the first
	frag   bool          // frag=1: the stream leaves byte by byte
	status int           // status=500: answer this HTTP status
	at     int           // after how many tokens the fault comes
	fault  string        // die=3, hang=3, err=3 or cut=3: break the connection, fall silent, send an error frame, end early
}

func parseScript(text string) script {
	s := script{tokens: 5}
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
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

// Text is the whole answer to a user's text that steers no fault.
func Text(steer string) string {
	s := parseScript(steer)
	var text strings.Builder
	for i := range s.tokens {
		text.WriteString(s.token(i))
	}
	return text.String()
}

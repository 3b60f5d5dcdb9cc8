package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestNewQuestions(t *testing.T) {
	long := strings.Repeat("many words\n", 100_000)
	tests := []struct {
		name, stdin, want string
		args              []string
		resume            bool
		fault             error
	}{
		{name: "an argument", args: []string{"hi"}, stdin: "unread", want: "hi"},
		{name: "stdin, as it is", stdin: " two\nlines\n", want: " two\nlines\n"},
		{name: "much of it", stdin: long, want: long},
		{name: "an empty argument", args: []string{""}, stdin: "unread", fault: errNoQuestion},
		{name: "an empty stdin", fault: errNoQuestion},
		{name: "a blank stdin", stdin: " \n\t\n", fault: errNoQuestion},
		{name: "nothing, for a turn that is resumed", resume: true, want: ""},
		{name: "an empty argument for one", args: []string{""}, resume: true, fault: errNoQuestion},
		{name: "a text for one", stdin: "hi", resume: true, want: "hi"},
		{name: "an argument that is no UTF-8", args: []string{"a\xff"}, fault: errNotUTF8},
		{name: "a stdin that is no UTF-8", stdin: "a\xff", fault: errNotUTF8},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			q, err := newQuestions(test.args, nil, streams{in: strings.NewReader(test.stdin)}, test.resume)
			if err != nil || test.fault != nil {
				if !errors.Is(err, test.fault) {
					t.Errorf("the error is %v, want %v", err, test.fault)
				}
				return
			}
			if text, err := q.next(); text != test.want || err != nil || q.typed() {
				t.Errorf("the question is %.80q (%v), typed %v", text, err, q.typed())
			}
			if _, err := q.next(); err != io.EOF {
				t.Errorf("behind the question is %v", err)
			}
		})
	}
}

func TestNewQuestionsTellsWhyStdinFails(t *testing.T) {
	cause := errors.New("input/output error")
	if _, err := newQuestions(nil, nil, streams{in: iotest.ErrReader(cause)}, false); !errors.Is(err, cause) {
		t.Errorf("the error is %v", err)
	}
}

func TestPrompt(t *testing.T) {
	var out lockedBuffer
	p := newPrompt(newKeyboard(strings.NewReader("one\n\n \r\nb\xffd\ntwo\r\nlast")), streams{err: &out})
	for _, want := range []string{"one", "two", "last"} {
		if text, err := p.next(); text != want || err != nil {
			t.Errorf("the question is %q (%v), want %q", text, err, want)
		}
	}
	if _, err := p.next(); err != io.EOF || !p.typed() {
		t.Errorf("behind the questions is %v", err)
	}
	if want := "> > > > the text is not valid UTF-8\n> > > \n"; out.String() != want {
		t.Errorf("the prompts are %q, want %q", out.String(), want)
	}
}

// TestConversation: the lines of a person share one session, and an error ends one of them alone.
func TestConversation(t *testing.T) {
	var session string
	typed := newPrompt(newKeyboard(strings.NewReader("one\ntwo\nthree\n")), streams{err: io.Discard})
	stdout, stderr, err := talk{questions: typed, params: chatParams{Resume: true}, script: func(f *fakeEngine) {
		f.initialize()
		for i, text := range []string{"one", "two", "three"} {
			a := f.next("chat")
			if a.Params.Input != text || a.Params.Resume != (i == 0) {
				t.Errorf("chat %d came with %+v", i, a.Params)
			}
			if i > 0 && a.Params.SessionID != session || a.Params.SessionID == "" {
				t.Errorf("chat %d is in session %q, after %q", i, a.Params.SessionID, session)
			}
			session = a.Params.SessionID
			if i == 1 {
				f.write(`{"id":%q,"type":"error","code":"internal_error","message":"oh"}`, a.ID)
				continue
			}
			f.chunk(a, "to "+text+"\x1b]") // what it leaves open hides nothing of the next
			f.result(a, "to "+text)
		}
		f.end()
	}}.run(t)
	if stdout != "to one\nto three\n" || stderr != "sluice: internal_error: oh\n" || err != nil {
		t.Errorf("stdout %q, stderr %q, error %v", stdout, stderr, err)
	}
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

var (
	errNoQuestion = errors.New("there is nothing to ask: give a TEXT, or write it to stdin")
	errNotUTF8    = errors.New("the text is not valid UTF-8")
)

// questions are what a person asks, one after the other.
type questions interface {
	// next returns the next question, or io.EOF after the last one.
	next() (string, error)
	// typed says whether a person sits there: then an error of one question doesn't end the next.
	typed() bool
}

// newQuestions asks the keyboard where there is one. Nothing needs to be asked where a turn is resumed.
func newQuestions(args []string, k *keyboard, s streams, resume bool) (questions, error) {
	if len(args) > 0 {
		return newSingle(args[0])
	}
	if k != nil {
		p := newPrompt(k, s)
		p.silent = resume
		return p, nil
	}
	text, err := io.ReadAll(stdioInput(s.in))
	if err != nil {
		return nil, fmt.Errorf("stdin can't be read: %w", err)
	}
	if resume && strings.TrimSpace(string(text)) == "" {
		return &single{}, nil
	}
	return newSingle(string(text))
}

// single is one question.
type single struct {
	text  string
	asked bool
}

func newSingle(text string) (questions, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errNoQuestion
	}
	if !utf8.ValidString(text) {
		return nil, errNotUTF8
	}
	return &single{text: text}, nil
}

func (s *single) typed() bool { return false }

func (s *single) next() (string, error) {
	if s.asked {
		return "", io.EOF
	}
	s.asked = true
	return s.text, nil
}

// prompt asks a terminal for one question a line.
type prompt struct {
	keyboard *keyboard
	out      io.Writer
	silent   bool // the first question is none: a turn is resumed
}

// newPrompt writes the prompt where the person looks: to stdout, unless that is redirected.
func newPrompt(k *keyboard, s streams) *prompt {
	p := &prompt{keyboard: k, out: s.err}
	if file, ok := s.out.(*os.File); ok && isTerminal(file) {
		p.out = s.out
	}
	return p
}

func (p *prompt) typed() bool { return true }

// next asks until there is a line that can be sent. The end of input leaves the cursor at the start
// of a line.
func (p *prompt) next() (string, error) {
	if p.silent {
		p.silent = false
		return "", nil
	}
	for {
		fmt.Fprint(p.out, "> ")
		line, err := p.keyboard.line()
		text := strings.TrimRight(line, "\r\n")
		switch {
		case strings.TrimSpace(text) == "" && err != nil:
			fmt.Fprintln(p.out)
			return "", io.EOF
		case strings.TrimSpace(text) == "":
		case !utf8.ValidString(text):
			fmt.Fprintln(p.out, errNotUTF8)
		default:
			return text, nil
		}
	}
}

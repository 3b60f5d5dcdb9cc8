package main

import (
	"bufio"
	"io"
	"os"
)

// keyboard is a person's terminal, read a line at a time. It belongs to one goroutine. A line that is
// asked for is read by a goroutine that ends with it or the input, at the latest with the process:
// nobody can take a read of a terminal back. What was asked for and not taken is the next line.
type keyboard struct {
	lines *bufio.Reader
	typed chan typedLine // of the read that runs; nil when none does
	// forget makes the terminal forget what was typed and not read; nil for what is none.
	forget func()
}

type typedLine struct {
	text string
	err  error
}

func newKeyboard(in io.Reader) *keyboard { return &keyboard{lines: bufio.NewReader(in)} }

// keyboardOf returns the keyboard that stdin is; nil when it is none.
func keyboardOf(s streams) *keyboard {
	if file, ok := s.in.(*os.File); !ok || !isTerminal(file) {
		return nil
	}
	k := newKeyboard(stdioInput(s.in))
	k.forget = func() { forgetTyped(s.in.(*os.File)) }
	return k
}

// discard forgets what was typed so far: it can't be the answer to a question that is only now asked.
func (k *keyboard) discard() {
	switch {
	case k.typed == nil:
		_, _ = k.lines.Discard(k.lines.Buffered())
	case len(k.typed) > 0:
		<-k.typed
		k.taken()
	}
	if k.forget != nil {
		k.forget()
	}
}

// ask returns where the next line comes; whoever receives it calls taken.
func (k *keyboard) ask() <-chan typedLine {
	if k.typed == nil {
		k.typed = make(chan typedLine, 1)
		go func(typed chan<- typedLine) {
			text, err := k.lines.ReadString('\n')
			typed <- typedLine{text, err}
		}(k.typed)
	}
	return k.typed
}

func (k *keyboard) taken() { k.typed = nil }

// line waits for the next line.
func (k *keyboard) line() (string, error) {
	l := <-k.ask()
	k.taken()
	return l.text, l.err
}

package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// shownName and shownArguments are how many characters of a tool's name and of a call's arguments a
// person is shown.
const shownName, shownArguments = 200, 200

// oneLine returns at most so many characters of a text without control codes, as one line.
func oneLine(text string, characters int) string {
	text = strings.Join(strings.FieldsFunc(stripped(text), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
	if n := utf8.RuneCountInString(text); n > characters {
		return fmt.Sprintf("%s… (and %d more characters)", string([]rune(text)[:characters]), n-characters)
	}
	return text
}

// calls tells the tool calls of a chat apart: those that run are counted, so that a result names its
// tool where several do.
type calls struct {
	running int
	several bool
}

func (c *calls) started(m *message) string {
	c.running++
	c.several = c.several || c.running > 1
	return "→ " + oneLine(m.Tool, shownName) + " " + oneLine(string(m.Args), shownArguments)
}

func (c *calls) done(m *message) string {
	text := "← "
	if c.several {
		text += oneLine(m.Tool, shownName) + " "
	}
	text += fmt.Sprintf("%s, %d ms", oneLine(m.Status, shownName), m.Milliseconds)
	if preview := oneLine(m.Preview, shownArguments); preview != "" {
		text += ": " + preview
	}
	if c.running--; c.running <= 0 {
		*c = calls{}
	}
	return text
}

// stages are what a person is told of what a chat waits for.
var stages = map[string]string{
	"server_start": "starting the server",
	"model_load":   "loading the model",
	"queue":        "waiting for the server",
	"prompt":       "reading the question",
	"tool":         "running a tool",
}

// shownDetail bounds a status, which must stay on one line of the terminal.
const shownDetail = 40

// progressLabel is the status that tells of an event progress.
func progressLabel(m *message) string {
	text, known := stages[m.Stage]
	if !known {
		text = "waiting"
	}
	detail := []rune(oneLine(m.Detail, 10*shownDetail))
	if len(detail) > shownDetail {
		detail = append(detail[:shownDetail-1], '…')
	}
	if len(detail) > 0 {
		text += ": " + string(detail)
	}
	if m.Fraction != nil {
		text += fmt.Sprintf(", %.0f %%", *m.Fraction*100)
	}
	return text + "..."
}

package config

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Error is a fault of the configuration. Its text is one line and never holds a configured value.
type Error struct {
	File   string // as the user named it; empty for an environment variable
	Line   int    // 1-based; 0 when the fault has no line
	Key    string // path of the key (output.on_full), or the variable's name; may be empty
	Reason string // what is wrong and what would be right
}

// Error returns "file:line: key: reason" without the parts that are empty.
func (e *Error) Error() string {
	var parts []string
	switch {
	case e.File != "" && e.Line > 0:
		parts = append(parts, fmt.Sprintf("%s:%d", e.File, e.Line))
	case e.File != "":
		parts = append(parts, e.File)
	}
	if e.Key != "" {
		parts = append(parts, e.Key)
	}
	return oneLine(strings.Join(append(parts, e.Reason), ": "))
}

// oneLine replaces what could break a line or a terminal: file names may hold anything.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// A key that doesn't look like one isn't shown: in "{api_key:secret}", which lacks a space, the
// secret is part of the key. Real keys and names of servers are short.
var showable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,23}$`)

// join appends key to path for messages and positions.
func join(path, key string) string {
	if !showable.MatchString(key) {
		key = "?"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// parent cuts the last step of a path: "agents[0].model", "agents[0]", "agents", "".
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

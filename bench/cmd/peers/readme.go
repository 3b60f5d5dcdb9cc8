package main

import (
	"fmt"
	"os"
	"strings"
)

// The markers between which the tables stand, each on a line of its own.
const (
	beginMarker = "<!-- peers:begin -->\n"
	endMarker   = "<!-- peers:end -->\n"
)

// parts are a file's text before and behind what the markers enclose, with the markers.
type parts struct{ before, behind string }

func readParts(path string) (p parts, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	before, rest, begins := strings.Cut(string(text), beginMarker)
	_, behind, ends := strings.Cut(rest, endMarker)
	if !begins || !ends {
		return p, fmt.Errorf("%s has no lines %q and %q to put the tables between",
			path, strings.TrimSpace(beginMarker), strings.TrimSpace(endMarker))
	}
	return parts{before + beginMarker, endMarker + behind}, nil
}

// replaceInReadme puts a text between the markers, with blank lines around it.
func replaceInReadme(path, text string) error {
	p, err := readParts(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	whole := p.before + "\n" + strings.TrimSpace(text) + "\n\n" + p.behind
	return os.WriteFile(path, []byte(whole), info.Mode().Perm())
}

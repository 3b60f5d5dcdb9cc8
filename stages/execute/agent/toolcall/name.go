package toolcall

import (
	"slices"
	"strings"

	"sluice/internal/wire"
)

// match is what a name stands for.
type match struct {
	// name is what the model wrote without blanks and quotes.
	name string
	// tool is nil when none fits, or several.
	tool *wire.Tool
	// candidates are the tools that fit, by Function.
	candidates []string
}

// prefixes are namespaces that models put before a function's name.
var prefixes = []string{"functions.", "functions/", "functions:", "function.", "tools.", "default_api."}

// resolve finds the one tool that a name stands for: exact names first, then names that differ in case
// and separators only, then the names of tools without their server.
func resolve(name string, tools []wire.Tool) match {
	m := match{name: strings.Trim(strings.ToValidUTF8(name, "\ufffd"), " \t\r\n\"'`")}
	if m.name == "" || len(m.name) > maxName {
		return m
	}
	bare := withoutPrefix(m.name)
	for _, fits := range []func(*wire.Tool) bool{
		func(t *wire.Tool) bool { return t.Function == m.name },
		func(t *wire.Tool) bool { return t.Name == m.name },
		func(t *wire.Tool) bool { return t.Function == bare || t.Name == bare },
		func(t *wire.Tool) bool { return like(bare, t.Function) || like(bare, t.Name) },
		func(t *wire.Tool) bool { _, tool, ok := strings.Cut(t.Name, "/"); return ok && like(bare, tool) },
	} {
		for i := range tools {
			if fits(&tools[i]) {
				m.tool = &tools[i]
				m.candidates = append(m.candidates, tools[i].Function)
			}
		}
		if len(m.candidates) > 0 {
			break
		}
	}
	slices.Sort(m.candidates)
	if m.candidates = slices.Compact(m.candidates); len(m.candidates) > 1 {
		m.tool = nil
	}
	return m
}

// withoutPrefix takes away a namespace, the number of the call that Kimi puts behind (":0"), and special
// tokens that gpt-oss sometimes puts behind ("<|channel|>commentary").
func withoutPrefix(name string) string {
	if i := strings.Index(name, "<|"); i > 0 {
		name = strings.TrimSpace(name[:i])
	}
	for _, prefix := range prefixes {
		if len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			name = name[len(prefix):]
			break
		}
	}
	if i := strings.LastIndexByte(name, ':'); i > 0 && i < len(name)-1 && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}

// like reports whether two names are the same but for case and the kind and number of separators.
func like(a, b string) bool {
	for {
		var x, y byte
		x, a = nextFolded(a)
		y, b = nextFolded(b)
		if x != y || x == 0 {
			return x == y
		}
	}
}

// nextFolded returns the next character of a name, in lower case, any run of separators as "_"; 0 at
// the end.
func nextFolded(name string) (c byte, rest string) {
	if name == "" {
		return 0, ""
	}
	if !isSeparator(name[0]) {
		c = name[0]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		return c, name[1:]
	}
	for name != "" && isSeparator(name[0]) {
		name = name[1:]
	}
	return '_', name
}

func isSeparator(c byte) bool { return strings.IndexByte("_-./: ", c) >= 0 }

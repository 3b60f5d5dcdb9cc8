// Package secret knows by their names where secrets stand in variables and command lines, so that what
// is printed or logged can leave them out. It errs on the side of hiding.
//
// Concurrency law: pure functions; nothing is kept open.
package secret

import (
	"regexp"
	"strings"
)

var (
	names = regexp.MustCompile(`(?i)token|secret|passw|passphrase|credential|cookie|bearer|keys?$|authorization|(^|[-_.])auth($|[-_.])`)
	// assignment is "name=value" or "name: value", the value without its scheme (RFC 9110, section 11.4).
	assignment = regexp.MustCompile(`([\w.-]+)\s*[=:]\s*(?:(?i:Bearer|Basic|Token)\s+)?(.+)`)
	// password is that of a URL (RFC 3986, section 3.2.1).
	password = regexp.MustCompile(`://[^/?#@\s]*:([^/?#@\s]+)@`)
)

// Named reports whether a variable, option, header or parameter of this name holds a secret. -hft is
// llama-server's short form of --hf-token.
func Named(name string) bool { return name == "-hft" || names.MatchString(name) }

// Span is where a secret stands: in bytes of args[Argument].
type Span struct{ Argument, Start, End int }

// Spans finds the secrets of a command line, or of variables, in their order: "--token x", "--token=x",
// "TOKEN=x", "--header", "Authorization: Bearer x", "postgres://user:x@host".
func Spans(args []string) []Span {
	var spans []Span
	follows := false // the argument before is an option whose value this is
	for i, arg := range args {
		switch {
		case !follows:
			spans = append(spans, within(i, arg)...)
			follows = strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && Named(arg)
			continue
		case arg != "":
			spans = append(spans, Span{i, 0, len(arg)})
		}
		follows = false
	}
	return spans
}

// within returns the secrets that an argument itself names: the passwords of its URLs, and all that
// follows the first name of a secret.
func within(i int, arg string) (spans []Span) {
	named := assigned(arg)
	for _, found := range password.FindAllStringSubmatchIndex(arg[:named], -1) {
		spans = append(spans, Span{i, found[2], found[3]})
	}
	if named < len(arg) {
		spans = append(spans, Span{i, named, len(arg)})
	}
	return spans
}

// assigned returns where the value of the first name of a secret begins, the length of arg for none.
func assigned(arg string) int {
	for offset := 0; ; {
		found := assignment.FindStringSubmatchIndex(arg[offset:])
		if found == nil {
			return len(arg)
		}
		if Named(arg[offset+found[2] : offset+found[3]]) {
			return offset + found[4]
		}
		offset += found[4] // the value may hold an assignment, as in --header=Authorization: x
	}
}

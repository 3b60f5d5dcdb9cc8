package config

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of a file. The parser's time grows with the square of length and depth, so a file given by
// mistake (a model, a log) must not keep it busy; real configurations hold a few KiB.
const (
	maxFileBytes = 256 * kib
	maxFlowDepth = 200
	maxIndent    = 1000 // also of "- - - -", which nests without a line end
)

// syntaxReasons are the library's messages worth passing on: constant texts that quote nothing.
var syntaxReasons = map[string]string{
	"found character '\t' that cannot start any token":                   "a tab can't indent here, use spaces",
	"found a tab character where an indentation space is expected":       "a tab can't indent here, use spaces",
	"tab character cannot be used for indentation in single-quoted text": "a tab can't indent here, use spaces",
	"tab character cannot be used for indentation in double-quoted text": "a tab can't indent here, use spaces",
	"tab character cannot use as a map key directly":                     "a tab can't indent here, use spaces",
	"tab character cannot use as a sequence delimiter":                   "a tab can't indent here, use spaces",
	"could not find end character of double-quoted text":                 "a double quote isn't closed",
	"could not find end character of single-quoted text":                 "a single quote isn't closed",
	"sequence end token ']' not found":                                   "a [ isn't closed",
	"',' or ']' must be specified":                                       "a , or ] is missing",
	"could not find flow mapping end token '}'":                          "a { isn't closed",
	"',' or '}' must be specified":                                       "a , or } is missing",
	"mapping value is not allowed in this context":                       "a key isn't allowed here, see the indentation",
	"value is not allowed in this context":                               "a value isn't allowed here, see the indentation",
	"value is not allowed in this context. map key-value is pre-defined": "a value isn't allowed here, see the indentation",
	"block sequence entries are not allowed in this context":             "a list isn't allowed here, see the indentation",
	"non-map value is specified":                                         "a key without a value, or a : without a space after it",
	"unexpected key name":                                                "a key without a value, or a : without a space after it",
}

// parseYAML returns the root of the only document in text, nil for an empty one.
func parseYAML(file string, text []byte) (ast.Node, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // written by Windows editors
	// The parser counts an empty line that ends with CRLF twice.
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if err := checkText(file, text); err != nil {
		return nil, err
	}
	tree, err := parseSafely(text)
	if err != nil {
		return nil, syntaxError(file, err)
	}
	return onlyDocument(file, tree)
}

// checkText refuses what the parser would be slow or wrong about.
func checkText(file string, text []byte) error {
	if !utf8.Valid(text) {
		return &Error{File: file, Line: 1 + invalidLine(text), Reason: "not UTF-8 text"}
	}
	depth, number := 0, 0
	for line := range bytes.Lines(text) {
		number++
		depth = flowDepth(depth, line)
		if depth > maxFlowDepth || len(line)-len(bytes.TrimLeft(line, "-? ")) > maxIndent {
			return &Error{File: file, Line: number, Reason: "nested too deeply"}
		}
	}
	return nil
}

// flowDepth follows brackets through line, which starts at depth, and returns the greatest depth
// beyond the limit, else the depth at its end. Brackets in strings count too; they seldom stay open.
func flowDepth(depth int, line []byte) int {
	for _, c := range line {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
		if depth > maxFlowDepth {
			return depth
		}
	}
	return depth
}

// invalidLine counts the line ends before the first byte that isn't UTF-8.
func invalidLine(text []byte) int {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	return bytes.Count(text[:at], []byte("\n"))
}

// parseSafely turns a panic of the parser, which fuzzing found for odd input, into an error.
func parseSafely(text []byte) (tree *ast.File, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("parser failed")
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

func syntaxError(file string, err error) error {
	result := &Error{File: file, Reason: "not valid YAML"}
	var positioned yaml.Error
	if !errors.As(err, &positioned) {
		return result
	}
	if token := positioned.GetToken(); token != nil && token.Position != nil {
		result.Line = token.Position.Line
	}
	if reason := syntaxReasons[positioned.GetMessage()]; reason != "" {
		result.Reason += ": " + reason
	}
	return result
}

func onlyDocument(file string, tree *ast.File) (ast.Node, error) {
	var root ast.Node
	for _, document := range tree.Docs {
		if document.Body == nil || document.Body.Type() == ast.DirectiveType {
			continue
		}
		if root != nil {
			return nil, &Error{File: file, Line: lineOf(document.Body), Reason: "only one YAML document is allowed"}
		}
		root = document.Body
	}
	return root, nil
}

// lineOf returns the 1-based line on which node starts, 0 when the parser didn't keep it.
func lineOf(node ast.Node) int {
	token := node.GetToken()
	if token == nil || token.Position == nil {
		return 0
	}
	return token.Position.Line
}

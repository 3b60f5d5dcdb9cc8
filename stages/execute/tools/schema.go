package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema checks a tool's arguments. It is made ready by the first check.
type schema struct {
	text     string
	once     sync.Once
	resolved *jsonschema.Resolved // nil when nothing can be checked
}

// check returns what is wrong with arguments, which are a JSON object, or nil. A schema that can't be
// resolved (a draft or pattern that isn't known, a reference to elsewhere) checks nothing: the server
// does.
func (s *schema) check(args string) error {
	s.once.Do(s.resolve)
	if s.resolved == nil {
		return nil
	}
	var values map[string]any
	if err := json.Unmarshal([]byte(args), &values); err != nil {
		return fmt.Errorf("they are no JSON object: %w", err)
	}
	return s.resolved.Validate(values)
}

func (s *schema) resolve() {
	decoded, err := decodeSchema(s.text)
	if err != nil || !bounded(s.text) {
		return
	}
	s.resolved, _ = decoded.Resolve(nil)
}

func decodeSchema(text string) (*jsonschema.Schema, error) {
	decoded := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(text), decoded); err != nil {
		return nil, err
	}
	return decoded, nil
}

const (
	// maxVisits bounds how many schemas may apply to the values, counted over the whole schema.
	maxVisits = 100_000
	// maxDepth bounds how many may stand within one another or refer to each other in a row.
	maxDepth = 1_000
)

// bounded reports whether checking against a schema ends, and soon. A reference to itself that applies
// to the same value, as in {"$ref":"#"}, would overflow the validator's stack, which can't be caught.
func bounded(text string) bool {
	var root any
	if json.Unmarshal([]byte(text), &root) != nil {
		return false
	}
	w := &walk{root: root}
	return w.all(root, 0)
}

// walk looks at every schema within root as one that a value is checked against.
type walk struct {
	root   any
	visits int
}

// all walks the tree. Not every object in it is a schema; taking it for one does no harm.
func (w *walk) all(node any, depth int) bool {
	switch node := node.(type) {
	case map[string]any:
		// Within a schema that has an address of its own, references start there.
		if _, addressed := node["$id"].(string); addressed && depth > 0 || !w.apply(node, depth) {
			return false
		}
		for _, child := range node {
			if !w.all(child, depth+1) {
				return false
			}
		}
	case []any:
		for _, child := range node {
			if !w.all(child, depth+1) {
				return false
			}
		}
	}
	return true
}

// inPlace are the keywords whose schemas apply to the same value (JSON Schema 2020-12, core, section 10.2).
var inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// apply counts the schemas that apply to one value. References other than to a place in the document
// are not followed: false.
func (w *walk) apply(node any, depth int) bool {
	w.visits++
	if w.visits > maxVisits || depth > maxDepth {
		return false
	}
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			if !w.apply(child, depth+1) {
				return false
			}
		}
	case map[string]any:
		if node["$dynamicRef"] != nil || node["$recursiveRef"] != nil {
			return false
		}
		if reference, ok := node["$ref"].(string); ok {
			target, found := w.find(reference)
			if !found || !w.apply(target, depth+1) {
				return false
			}
		}
		for _, keyword := range inPlace {
			if child := node[keyword]; child != nil && !w.applyKeyword(keyword, child, depth+1) {
				return false
			}
		}
	}
	return true
}

// applyKeyword goes into the schemas of a keyword, which dependentSchemas holds by name.
func (w *walk) applyKeyword(keyword string, child any, depth int) bool {
	byName, ok := child.(map[string]any)
	if !ok || !strings.HasPrefix(keyword, "dependen") {
		return w.apply(child, depth)
	}
	for _, one := range byName {
		if !w.apply(one, depth) {
			return false
		}
	}
	return true
}

// find returns what a JSON pointer in a fragment refers to (RFC 6901, without percent escapes).
func (w *walk) find(reference string) (any, bool) {
	pointer, ok := strings.CutPrefix(reference, "#")
	node := w.root
	for ok && pointer != "" {
		var token string
		token, pointer, _ = strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		if pointer != "" {
			pointer = "/" + pointer
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		var object map[string]any
		if object, ok = node.(map[string]any); ok {
			node, ok = object[token]
		}
	}
	return node, ok
}

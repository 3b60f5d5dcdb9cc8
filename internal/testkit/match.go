package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// insert puts the strings that names stand for into a line.
func (m matcher) insert(line string) string {
	for name, value := range m {
		if text, ok := value.(string); ok {
			line = strings.ReplaceAll(line, `"`+name+`"`, shown(text))
		}
	}
	return line
}

// Match compares an engine's line with the line that is wanted, as JSON: white space and the order of
// members don't count; numbers are equal when they are written alike. The wanted string "*" matches
// any value, for what differs from run to run. The error names the first difference by its path.
func Match(want, got []byte) error { return matcher(nil).match(want, got) }

// matcher are the values that names stand for: a wanted string "$name" matches any value where it is met
// first, and the same one from then on. Nil knows no names.
type matcher map[string]any

func (m matcher) match(want, got []byte) error {
	wanted, err := decodeOne(want)
	if err != nil {
		return fmt.Errorf("the wanted line is no JSON: %w", err)
	}
	gotten, err := decodeOne(got)
	if err != nil {
		return fmt.Errorf("the line is no JSON: %w", err)
	}
	return m.value("$", wanted, gotten)
}

func decodeOne(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the value")
	}
	return value, nil
}

func (m matcher) value(path string, want, got any) error {
	if want == "*" {
		return nil
	}
	if name, ok := want.(string); ok && m != nil && strings.HasPrefix(name, "$") {
		if _, bound := m[name]; !bound {
			m[name] = got
		}
		want = m[name]
	}
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			return m.object(path, want, got)
		}
	case []any:
		if got, ok := got.([]any); ok {
			return m.list(path, want, got)
		}
	default:
		if want == got {
			return nil
		}
	}
	return fmt.Errorf("%s is %s; want %s", path, shown(got), shown(want))
}

func (m matcher) object(path string, want, got map[string]any) error {
	for _, name := range sortedNames(want, got) {
		wanted, inWant := want[name]
		gotten, inGot := got[name]
		member := path + "." + name
		switch {
		case !inGot:
			return fmt.Errorf("%s is missing", member)
		case !inWant:
			return fmt.Errorf("%s is there, %s, and not wanted", member, shown(gotten))
		}
		if err := m.value(member, wanted, gotten); err != nil {
			return err
		}
	}
	return nil
}

func sortedNames(objects ...map[string]any) (names []string) {
	for _, object := range objects {
		for name := range object {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (m matcher) list(path string, want, got []any) error {
	if len(want) != len(got) {
		return fmt.Errorf("%s has %d elements, %s; want %d", path, len(got), shown(got), len(want))
	}
	for i := range want {
		if err := m.value(fmt.Sprintf("%s[%d]", path, i), want[i], got[i]); err != nil {
			return err
		}
	}
	return nil
}

func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Match compares an engine's line with the line that is wanted, as JSON: white space and the order of
// members don't count; numbers are equal when they are written alike. The wanted string "*" matches
// any value, for what differs from run to run. The error names the first difference by its path.
func Match(want, got []byte) error {
	wanted, err := decodeOne(want)
	if err != nil {
		return fmt.Errorf("the wanted line is no JSON: %w", err)
	}
	gotten, err := decodeOne(got)
	if err != nil {
		return fmt.Errorf("the line is no JSON: %w", err)
	}
	return match("$", wanted, gotten)
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

func match(path string, want, got any) error {
	if want == "*" {
		return nil
	}
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			return matchObject(path, want, got)
		}
	case []any:
		if got, ok := got.([]any); ok {
			return matchList(path, want, got)
		}
	default:
		if want == got {
			return nil
		}
	}
	return fmt.Errorf("%s is %s; want %s", path, shown(got), shown(want))
}

func matchObject(path string, want, got map[string]any) error {
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
		if err := match(member, wanted, gotten); err != nil {
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

func matchList(path string, want, got []any) error {
	if len(want) != len(got) {
		return fmt.Errorf("%s has %d elements, %s; want %d", path, len(got), shown(got), len(want))
	}
	for i := range want {
		if err := match(fmt.Sprintf("%s[%d]", path, i), want[i], got[i]); err != nil {
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

package tools

import (
	"encoding/base64"
	"io"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// mending replaces, within a JSON text that is valid, what the SDK's decoder refuses: it refuses a whole
// result for one member of a wrong type. All else keeps its bytes.
type mending struct {
	text    string
	edits   []edit // by where they stand, without overlap
	dropped int    // items that are left out or shown as a note
	changed int    // members that are left out or replaced
}

// edit replaces text[from:to].
type edit struct {
	from, to int
	by       string
}

func (m *mending) replace(value gjson.Result, by string) {
	m.edits = append(m.edits, edit{value.Index, value.Index + len(value.Raw), by})
}

// done returns the mended text.
func (m *mending) done() string {
	var text strings.Builder
	from := 0
	for _, e := range m.edits {
		text.WriteString(m.text[from:e.from])
		text.WriteString(e.by)
		from = e.to
	}
	text.WriteString(m.text[from:])
	return text.String()
}

// members leaves out what doesn't fit, by putting null in its place, which the decoder takes for nothing.
func (m *mending) members(object gjson.Result, fit fits) {
	object.ForEach(func(name, value gjson.Result) bool {
		if !fit.allow(name.Str, value) {
			m.replace(value, "null")
			m.changed++
		}
		return true
	})
}

// fits says of members what fits the decoder. Members that aren't named may be anything.
type fits map[string]func(gjson.Result) bool

func (f fits) allow(name string, value gjson.Result) bool {
	fit := f[name]
	return fit == nil || value.Type == gjson.Null || fit(value)
}

func isText(v gjson.Result) bool   { return v.Type == gjson.String }
func isBool(v gjson.Result) bool   { return v.IsBool() }
func isObject(v gjson.Result) bool { return v.IsObject() }
func never(gjson.Result) bool      { return false }

func isWhole(v gjson.Result) bool {
	_, err := strconv.ParseInt(v.Raw, 10, 64)
	return err == nil
}

func isNumber(v gjson.Result) bool {
	_, err := strconv.ParseFloat(v.Raw, 64)
	return v.Type == gjson.Number && err == nil
}

func isBase64(v gjson.Result) bool {
	if v.Type != gjson.String {
		return false
	}
	_, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, strings.NewReader(v.Str)))
	return err == nil
}

// listOf reports whether a value is a list of what fits.
func listOf(fit func(gjson.Result) bool) func(gjson.Result) bool {
	return func(v gjson.Result) bool {
		fine := v.IsArray()
		if fine {
			v.ForEach(func(_, one gjson.Result) bool {
				fine = one.Type == gjson.Null || fit(one)
				return fine
			})
		}
		return fine
	}
}

// objectOf reports whether a value is an object all of whose members fit.
func objectOf(members fits) func(gjson.Result) bool {
	return func(v gjson.Result) bool {
		fine := v.IsObject()
		if fine {
			v.ForEach(func(name, value gjson.Result) bool {
				fine = members.allow(name.Str, value)
				return fine
			})
		}
		return fine
	}
}

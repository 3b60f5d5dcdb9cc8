package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// version is that of the files that are written.
const version = 1

// members are those of a JSON object, as they were written: what isn't known here is kept.
type members map[string]json.RawMessage

// document is what config.json holds.
type document struct {
	all      members
	current  string
	profiles map[string]members
	local    members // localTools
}

// errLarge is the error of a file of more than largestFile bytes.
var errLarge = errors.New("it is larger than 1 MiB")

// newerVersion is the error of a file that a later program wrote.
type newerVersion struct{ version int }

func (n *newerVersion) Error() string { return fmt.Sprintf("version %d", n.version) }

func newDocument() *document {
	return &document{all: members{}, profiles: map[string]members{}, local: members{}}
}

// parse reads a file. An error that is no *newerVersion says what is wrong with it.
func parse(text []byte) (*document, error) {
	if len(text) > largestFile {
		return nil, errLarge
	}
	if !utf8.Valid(text) {
		return nil, errors.New("it is no UTF-8")
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors write one
	d := newDocument()
	if err := json.Unmarshal(text, &d.all); err != nil || d.all == nil {
		return nil, fmt.Errorf("it is no JSON object%s", position(text, err))
	}
	found := version
	for name, value := range map[string]any{"version": &found, "currentProfile": &d.current, "profiles": &d.profiles, "localTools": &d.local} {
		raw, ok := d.all[name]
		if ok && json.Unmarshal(raw, value) != nil {
			return nil, fmt.Errorf("%s has the wrong type", name)
		}
	}
	if found > version {
		return nil, &newerVersion{found}
	}
	if found < version {
		return nil, errors.New("its version is unknown")
	}
	d.fill()
	return d, nil
}

// fill makes maps of what was null.
func (d *document) fill() {
	if d.profiles == nil {
		d.profiles = map[string]members{}
	}
	if d.local == nil {
		d.local = members{}
	}
}

// position says where a syntax error stands, since its own words would repeat the text.
func position(text []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return ""
	}
	before := text[:min(int(syntax.Offset), len(text))]
	return fmt.Sprintf(", see line %d", 1+bytes.Count(before, []byte("\n")))
}

// encode returns the whole file.
func (d *document) encode() []byte {
	d.all.set("version", version)
	d.all.set("currentProfile", d.current)
	d.all.set("profiles", d.profiles)
	if len(d.local) > 0 {
		d.all.set("localTools", d.local)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	encoder.Encode(d.all) // valid JSON under names: always encodes
	return out.Bytes()
}

// set replaces a member. Values are texts, numbers, truth values, lists and maps of those, which always
// encode.
func (m members) set(name string, value any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.Encode(value)
	m[name] = json.RawMessage(bytes.TrimSpace(out.Bytes()))
}

// text returns a member that is a string, empty when it is none.
func (m members) text(name string) string {
	var s string
	if json.Unmarshal(m[name], &s) != nil {
		return ""
	}
	return s
}

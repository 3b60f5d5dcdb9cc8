package sse

import (
	"errors"
	"strings"
)

// record is an Event that was copied.
type record struct{ kind, data, id string }

// reference decodes a whole stream the way the standard words it, one rule after the other.
func reference(stream string, keepUnfinished bool) []record {
	stream = strings.TrimPrefix(stream, "\xef\xbb\xbf")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	stream = strings.ReplaceAll(stream, "\r", "\n")
	lines := strings.Split(stream, "\n")
	unfinished := lines[len(lines)-1]
	lines = lines[:len(lines)-1]
	if keepUnfinished {
		if unfinished != "" {
			lines = append(lines, unfinished)
		}
		lines = append(lines, "")
	}
	var records []record
	var kind, data, id string
	for _, line := range lines {
		if line == "" {
			if data != "" {
				records = append(records, record{kind, strings.TrimSuffix(data, "\n"), id})
			}
			kind, data = "", ""
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			kind = value
		case "data":
			data += value + "\n"
		case "id":
			if !strings.Contains(value, "\x00") {
				id = value
			}
		}
	}
	return records
}

// decode feeds the pieces to a Decoder, each in memory that is overwritten as soon as Decode returned.
func decode(options Options, pieces ...string) ([]record, error) {
	var records []record
	yield := func(e Event) error {
		records = append(records, record{string(e.Type), string(e.Data), string(e.ID)})
		return nil
	}
	d := New(options)
	for _, piece := range pieces {
		memory := []byte(piece)
		err := d.Decode(memory, yield)
		for i := range memory {
			memory[i] = '#'
		}
		if err != nil {
			if again := d.Finish(yield); !errors.Is(again, err) {
				return records, errors.Join(err, again, errors.New("Finish forgot the error"))
			}
			return records, err
		}
	}
	return records, d.Finish(yield)
}

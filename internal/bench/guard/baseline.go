package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// UsageError tells a person in one line what to do.
type UsageError struct{ message string }

func (e *UsageError) Error() string { return e.message }

func usageError(format string, arguments ...any) error {
	return &UsageError{fmt.Sprintf(format, arguments...)}
}

// baselineVersion is raised when a figure's meaning, a default size or the format changes.
const baselineVersion = 1

const baselineFormat = "sluice bench guard"

const updating = "--" + UpdateFlag

// Baseline is what engines are compared with, machine by machine.
type Baseline struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Entries []Entry `json:"entries"`
}

// Entry is what was measured on one machine.
type Entry struct {
	Machine  Machine   `json:"machine"`
	Sizes    Sizes     `json:"sizes"`
	Rounds   int       `json:"rounds"`
	Sessions []Session `json:"sessions"`
}

// Session holds the ratios of all rounds of one measurement, by figure.
type Session map[string][]float64

// readBaseline reads the baseline. Where it is to be written, a missing one and one of another
// version are empty ones.
func (o Options) readBaseline() (*Baseline, error) {
	text, err := os.ReadFile(o.Baseline)
	if errors.Is(err, fs.ErrNotExist) && o.Update {
		return &Baseline{}, nil
	}
	if err != nil {
		return nil, usageError("the baseline can't be read: %v (write one with %s)", err, updating)
	}
	var b Baseline
	if err := json.Unmarshal(text, &b); b.Format != baselineFormat || err != nil && b.Version == baselineVersion {
		return nil, usageError("%s is no baseline of the guard: name another file, or remove it and write one with %s", o.Baseline, updating)
	}
	switch {
	case b.Version != baselineVersion && o.Update:
		return &Baseline{}, nil
	case b.Version != baselineVersion:
		return nil, usageError("%s is a baseline of version %d, this program compares version %d: write it anew with %s",
			o.Baseline, b.Version, baselineVersion, updating)
	}
	for _, entry := range b.Entries {
		if err := entry.check(); err != nil {
			return nil, usageError("%s: %v: remove it and write it anew with %s", o.Baseline, err, updating)
		}
	}
	return &b, nil
}

func (e Entry) check() error {
	if e.Rounds < 1 || len(e.Sessions) == 0 {
		return fmt.Errorf("nothing was measured on %s", e.Machine)
	}
	for _, session := range e.Sessions {
		for figure, ratios := range session {
			if slices.ContainsFunc(ratios, func(ratio float64) bool { return ratio <= 0 }) {
				return fmt.Errorf("%s of %s isn't positive", figure, e.Machine)
			}
		}
	}
	return nil
}

// Entry returns the machine's part, or nil.
func (b *Baseline) Entry(m Machine) *Entry {
	for i := range b.Entries {
		if b.Entries[i].Machine == m {
			return &b.Entries[i]
		}
	}
	return nil
}

// Put adds the part of a machine or replaces it.
func (b *Baseline) Put(entry Entry) {
	if known := b.Entry(entry.Machine); known != nil {
		*known = entry
		return
	}
	b.Entries = append(b.Entries, entry)
}

// unfinishedSuffix is added to the name of a baseline until it is whole.
const unfinishedSuffix = ".new"

// Write writes the baseline as a whole, with the ratios of a figure on one line.
func (b *Baseline) Write(path string) error {
	b.Format, b.Version = baselineFormat, baselineVersion
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	unfinished := path + unfinishedSuffix
	err = os.WriteFile(unfinished, joinNumbers(indented.Bytes()), 0o644)
	if err == nil {
		err = os.Rename(unfinished, path)
	}
	if err != nil {
		_ = os.Remove(unfinished) // a full disk leaves a part
	}
	return err
}

// joinNumbers puts the elements of indented arrays of numbers, which all start with a digit, on one line.
func joinNumbers(text []byte) []byte {
	var joined []byte
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimLeft(line, " ")
		closes := len(trimmed) > 0 && trimmed[0] == ']' && endsInNumber(joined)
		if len(trimmed) > 0 && (isDigit(trimmed[0]) || closes) {
			joined = bytes.TrimRight(joined, "\n")
			if !closes && joined[len(joined)-1] == ',' {
				joined = append(joined, ' ')
			}
			line = trimmed
		}
		joined = append(joined, line...)
	}
	return joined
}

func endsInNumber(text []byte) bool {
	text = bytes.TrimRight(text, "\n")
	return len(text) > 0 && isDigit(text[len(text)-1])
}

func isDigit(character byte) bool { return character >= '0' && character <= '9' }

package toolcall

import "slices"

// fix is a kind of repair.
type fix uint32

const (
	fixComma fix = 1 << iota
	fixFence
	fixQuotes
	fixKeys
	fixLiterals
	fixComments
	fixControl
	fixEscape
	fixClosers
	fixExtraClosers
	fixEncoded
	fixEmpty
	fixTwice
	fixName
	fixID
	fixText
	fixTag
	fixPython
)

var fixNames = []string{
	"comma before a closing bracket", "code fence", "single quotes", "names without quotes",
	"Python literals", "comments", "raw control characters", "needless escapes", "missing closing brackets",
	"extra closing brackets", "arguments inside a string", "no arguments", "member given twice",
	"function name", "call id", "call written as text", "missing closing tag", "call written as Python",
}

func (b *builder) repair(f fix) {
	for i, name := range fixNames {
		if f == 1<<i && !slices.Contains(b.reading.Repaired, name) {
			b.reading.Repaired = append(b.reading.Repaired, name)
		}
	}
}

func (b *builder) repaired(all fix) {
	for i := range fixNames {
		b.repair(all & (1 << i))
	}
}

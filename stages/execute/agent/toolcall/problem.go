package toolcall

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxExcerpt is the length in bytes of what is quoted of a model's text.
const maxExcerpt = 60

// excerpt quotes the beginning of a text, in one line.
func excerpt(text string) string {
	cut := text
	if len(cut) > maxExcerpt {
		end := maxExcerpt
		for end > maxExcerpt-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		cut = text[:end] + "…"
	}
	line := strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(cut, "\ufffd"))
	return "“" + line + "”"
}

// around quotes what stands at a place of a text.
func around(text string, at int) string {
	from, to := max(at-maxExcerpt/2, 0), min(at+maxExcerpt/2, len(text))
	for from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	for to > at && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	return excerpt(text[from:to])
}

func (f *fault) String() string {
	if f.near == "" {
		return f.what
	}
	return f.what + ", near " + f.near
}

func servedProblem(function string, f *fault) string {
	return fmt.Sprintf("The call of %s was not made: its arguments can't be read: %s. Write them as one JSON object: "+
		"names and texts in double quotes, a quote inside a text as \\\", a line break as \\n, every bracket closed.", excerpt(function), f)
}

func textProblem(f *fault) string {
	return fmt.Sprintf("A call was announced in the text of the answer and not made: %s. Use the form of calls that you were given; "+
		"where it holds JSON, write {\"name\": \"…\", \"arguments\": {…}} with names and texts in double quotes, "+
		"and nothing behind the last call.", f)
}

func followedProblem(name string) string {
	return fmt.Sprintf("The call of %s was not made, since more text follows it and it may be an example. "+
		"To make it, write it again as the end of the answer; else answer without it, or with the example in a code fence.", excerpt(name))
}

func amidProblem(name string) string {
	return fmt.Sprintf("The call of %s was not made, since it stands amid a sentence or as a quotation and may be an example. "+
		"To make it, write it again on a line of its own; else answer without it, or with the example in a code fence.", excerpt(name))
}

func ambiguousProblem(m match) string {
	list := m.candidates[:min(len(m.candidates), 3)]
	return fmt.Sprintf("The call of %s was not made: the name fits several tools, such as %s. Use one of these names.",
		excerpt(m.name), strings.Join(list, ", "))
}

func nameProblem(name string) string {
	if name == "" {
		return "A call without a name was not made. Name the tool that is to be called."
	}
	return fmt.Sprintf("The call of %s was not made: no tool has so long a name. Use the name of an offered tool.", excerpt(name))
}

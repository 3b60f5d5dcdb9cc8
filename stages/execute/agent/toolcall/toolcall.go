package toolcall

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"sluice/internal/wire"
)

const (
	// MaxCalls is how many calls of one step are made; a model that writes more has lost its way.
	MaxCalls = 64
	// maxProblems bounds what the model is told at once.
	maxProblems = 8
	// maxName is the length in bytes of the longest name that is looked at; the OpenAI API allows 64.
	maxName = 256
)

// Step is what a model step brought.
type Step struct {
	// Text is the step's whole plain text.
	Text string
	// Calls are those that the server made out.
	Calls []wire.ToolCall
	// Tools are those that were offered.
	Tools []wire.Tool
	// Cut says that the token limit ended the answer (finish reason "length"): what is unfinished is then
	// never completed.
	Cut bool
	// Taken are the ids of the turn's earlier calls, which no call of the step gets: a host that answers
	// late must not be taken to speak of another call.
	Taken map[string]bool
	// Seed is mixed into the ids that are made, so that they differ between steps; anything that no
	// other step of the conversation has.
	Seed string
}

// Call is one call that can be made.
type Call struct {
	// ToolCall has an ID that no other call of the turn has, the Function as it was offered (or as the
	// model wrote it when no tool fits), and as Arguments a JSON object in normal form: one line
	// without blanks between its parts, texts as wire.AppendText writes them, numbers as they were
	// written, members in their order and each once.
	wire.ToolCall
	// Tool is named server/tool; empty when no offered tool fits.
	Tool string
}

// Reading is what was made out.
type Reading struct {
	// Calls are in the model's order, at most MaxCalls.
	Calls []Call
	// Text is the answer without the markup of calls that were written as text, and without blanks
	// around it; it is the step's text as it is when there were none.
	Text string
	// Problems has one message for the model for each call that can't be made, each under 600 bytes.
	Problems []string
	// Repaired says in a few words each what was repaired, for the log.
	Repaired []string
}

// Read makes out the calls of a model step.
func Read(step Step) Reading {
	b := builder{step: step, ids: map[string]bool{}}
	b.reading.Text = step.Text
	switch {
	case len(step.Calls) > 0:
		for _, call := range step.Calls {
			b.addServed(call)
		}
	case len(step.Tools) > 0:
		b.readText()
	}
	b.endProblems()
	return b.reading
}

// builder gathers a reading.
type builder struct {
	step    Step
	reading Reading
	ids     map[string]bool
	// over counts the calls beyond MaxCalls, dropped the problems beyond maxProblems.
	over, dropped int
}

// draft is a call as it was written, before its name is resolved.
type draft struct {
	id, name, args string
	// hasArgs says that arguments were written, if only as null.
	hasArgs bool
}

func (b *builder) addServed(call wire.ToolCall) {
	args, fixes, fault := readArguments(call.Arguments, b.step.Cut)
	if fault != nil {
		b.problem(servedProblem(call.Function, fault))
		return
	}
	b.repaired(fixes)
	b.add(draft{id: call.ID, name: call.Function, args: args})
}

// add resolves the name and gives the call its id.
func (b *builder) add(d draft) {
	if len(b.reading.Calls) == MaxCalls {
		b.over++
		return
	}
	match := resolve(d.name, b.step.Tools)
	switch {
	case len(match.candidates) > 1:
		b.problem(ambiguousProblem(match))
		return
	case match.name == "" || len(match.name) > maxName:
		b.problem(nameProblem(match.name))
		return
	}
	call := Call{ToolCall: wire.ToolCall{Function: match.name, Arguments: d.args}}
	if match.tool != nil {
		call.Function, call.Tool = match.tool.Function, match.tool.Name
	}
	if call.Function != d.name {
		b.repair(fixName)
	}
	call.ID = b.takeID(d)
	b.reading.Calls = append(b.reading.Calls, call)
}

// takeID keeps the server's id when it is usable, else makes one of nine letters and digits, which is
// what Mistral's templates ask of ids.
func (b *builder) takeID(d draft) string {
	id := d.id
	if id == "" || len(id) > maxName || !utf8.ValidString(id) || b.taken(id) {
		if id != "" {
			b.repair(fixID)
		}
		id = makeID(b.step.Seed, d.name, d.args, len(b.ids))
	}
	for n := len(b.ids) + 1; b.taken(id); n++ {
		id = makeID(b.step.Seed, d.name, d.args, n+len(b.ids))
	}
	b.ids[id] = true
	return id
}

func (b *builder) taken(id string) bool { return b.ids[id] || b.step.Taken[id] }

// makeID hashes with 64-bit FNV-1a and writes the hash to base 36.
func makeID(seed, name, args string, n int) string {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"
	hash := uint64(14695981039346656037)
	for _, part := range []string{seed, name, args, fmt.Sprint(n)} {
		for i := 0; i < len(part); i++ {
			hash = (hash ^ uint64(part[i])) * 1099511628211
		}
		hash = (hash ^ 0xff) * 1099511628211
	}
	var id [9]byte
	for i := range id {
		id[i], hash = alphabet[hash%36], hash/36
	}
	return string(id[:])
}

func (b *builder) problem(message string) {
	if len(b.reading.Problems) == maxProblems {
		b.dropped++
		return
	}
	b.reading.Problems = append(b.reading.Problems, message)
}

func (b *builder) endProblems() {
	if b.dropped > 0 {
		b.reading.Problems = append(b.reading.Problems, fmt.Sprintf("%d more calls have problems like these.", b.dropped))
	}
	if b.over > 0 {
		b.reading.Problems = append(b.reading.Problems, fmt.Sprintf(
			"%d calls were not made: an answer may hold %d calls. Make the others in the next answer.", b.over, MaxCalls))
	}
}

// Reprompt returns the message that asks a model to try again, made of the problems of its last step.
func Reprompt(problems []string) string {
	var text strings.Builder
	text.WriteString("Not every tool call of your last answer could be made:\n")
	for _, problem := range problems {
		text.WriteString("- " + problem + "\n")
	}
	text.WriteString("Make these calls again in the right form, or answer without calling a tool.")
	return text.String()
}

package demo

// What the model says inside a tool call. llama-server's grammar admits only what
// keeps the call valid JSON for one of the tools; among that the model prefers to
// close what is open, so that calls stay short. Weights are relative.
var toolCallBytes = map[byte]uint64{
	'"': 1000, '}': 100, ']': 100, '\n': 20, '1': 10, ',': 50, ':': 50, '{': 5, ' ': 1,
}

// afterBrace replaces some of these after a closing brace: a comma there could begin
// a second call, and one is enough.
var afterBrace = map[byte]uint64{'\n': 1000, ',': 1}

const (
	// openingWeight makes openings all but certain after a newline, where a tool
	// call goes on only because the grammar admits nothing else.
	openingWeight = 1_000_000
	// closeWeight is that of </tool_call>, which stands on a line of its own.
	closeWeight = 10_000
)

// countToolCalls lets <|call|> open a tool call, bytes continue it, and its end
// end the answer. llama-server recognises "<tool_call>" and a newline as the
// start: from there on its grammar rules.
func countToolCalls(counts []map[Token]uint64) {
	newline, brace := byteToken('\n'), byteToken('}')
	for b := range 256 {
		token := byteToken(byte(b))
		if token == newline {
			for opening := range counts[token] {
				counts[token][opening] *= openingWeight
			}
			counts[token][toolCloseToken] = closeWeight
		} else {
			counts[token] = map[Token]uint64{}
		}
		addBytes(counts[token], toolCallBytes)
	}
	addBytes(counts[brace], afterBrace)
	counts[callToken] = map[Token]uint64{toolOpenToken: 1}
	counts[toolOpenToken] = map[Token]uint64{newline: 1}
	counts[toolCloseToken] = map[Token]uint64{endToken: 1}
}

func addBytes(followers map[Token]uint64, weights map[byte]uint64) {
	for b, weight := range weights {
		followers[byteToken(b)] = weight
	}
}

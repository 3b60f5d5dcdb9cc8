package demo

import "testing"

// TestToolCallRows states what a real llama-server needs of the model to make one
// short call: see chat.jinja for the text around it.
func TestToolCallRows(t *testing.T) {
	m := Default()
	share := func(prev Token, nexts ...Token) float64 {
		sum := uint64(0)
		for _, next := range nexts {
			sum += m.rows[prev].weight(next)
		}
		return float64(sum) / float64(m.rows[prev].total)
	}
	var openings []Token
	for _, token := range m.vocabulary.opening {
		openings = append(openings, token)
	}
	newline := byteToken('\n')
	tests := []struct {
		name        string
		share       float64
		least, most float64
	}{
		{"the template's tag opens a call", share(callToken, toolOpenToken), 1, 1},
		{"a newline makes the server take it for one", share(toolOpenToken, newline), 1, 1},
		{"strings are closed at once", share(byteToken('"'), byteToken('"')), 0.5, 0.9},
		{"a call rarely follows a call", share(byteToken('}'), byteToken(',')), 0, 0.001},
		{"the end stands after a newline", share(newline, toolCloseToken), 1e-9, 1e-3},
		{"and ends the answer", share(toolCloseToken, endToken), 1, 1},
		{"a newline in a prompt starts an answer", share(newline, openings...), 0.999, 1},
		{"nothing but openings starts ours", share(beginToken, openings...), 1, 1},
	}
	for _, test := range tests {
		if test.share < test.least || test.share > test.most {
			t.Errorf("%s: %v", test.name, test.share)
		}
	}
	if m.rows[newline].weight(toolCloseToken) < 10*m.rows[newline].weight(byteToken(',')) {
		t.Error("after a call's last newline another one is likelier than the end")
	}
}

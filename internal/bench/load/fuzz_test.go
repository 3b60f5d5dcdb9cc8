package load

import (
	"testing"

	"sluice/internal/bench/tokens"
)

// FuzzParseRequest: whatever a body says, an accepted request can be served.
func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"n=5 rate=100"}],"stream":true}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"n=99999999999999999999"}]}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"n=-1"},{"role":"user"}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"rate=NaN"}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"rate=-Inf"}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"for=-1s"}]}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := parseRequest(body)
		if err == nil && (r.count < 1 || r.count > tokens.Limit || !(r.rate >= 0) || r.rate > maximumRate || r.during < 0) {
			t.Errorf("%+v was accepted", r)
		}
	})
}

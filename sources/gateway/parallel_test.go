package gateway

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"sluice/internal/testkit/fakegateway"
)

// TestStreamsSideBySide: streams of one client over real sockets, whose token has expired, share one
// refresh and each get their own text.
func TestStreamsSideBySide(t *testing.T) {
	w := newWorld(t, Options{}, false)
	w.Expire(false)
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			c := &collector{}
			text := fmt.Sprintf("<%d>", i)
			if err := w.chat(t, t.Context(), "n=2000 tok="+text, c); err != nil || c.text.String() != strings.Repeat(text, 2000) || len(c.frames) != 1 {
				t.Errorf("%d: %v, %d bytes of text, %d frames", i, err, c.text.Len(), len(c.frames))
			}
		})
		wait.Go(func() {
			if _, err := w.account.Conversations(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := len(w.Requests(fakegateway.PathRefresh)); n != 1 {
		t.Errorf("%d refreshes", n)
	}
}

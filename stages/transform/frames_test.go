package transform

import (
	"reflect"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// gatewayBatch is a batch of a gateway: what begins with { is an event, the rest is text.
func gatewayBatch(raw ...string) *wire.Tokens {
	b := content(raw...)
	for i := range b.Items {
		if strings.HasPrefix(raw[i], "{") {
			b.Items[i].Kind, b.Items[i].Plain = wire.TokenFrame, false
		}
	}
	return b
}

func texts(events *wire.Events) (list []string) {
	for _, e := range events.Items {
		prefix := ""
		if e.Kind == wire.EventFrame {
			prefix = "frame "
		}
		list = append(list, prefix+string(e.Text))
	}
	return list
}

// TestFrames keep their place among text and become fit for a line.
func TestFrames(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		step := New(Options{ASCII: ascii, Forget: true})
		long := `{"kind":"log","data":"` + strings.Repeat("x", keptBytes) + `"}`
		for _, c := range []struct {
			batch *wire.Tokens
			want  []string
		}{
			{gatewayBatch("a", "{ \"kind\" : \"log\", \"data\":\"\u2028\" }", "b"), []string{"a", `frame {"kind":"log","data":"\u2028"}`, "b"}},
			{gatewayBatch(long, `{"kind":"end"}`), []string{"frame " + long, `frame {"kind":"end"}`}},
			{gatewayBatch(`{"kind":`, "c"), []string{"frame {}", "c"}},
		} {
			if got := texts(step.Apply(c.batch)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("ascii %v: got %.200q; want %.200q", ascii, got, c.want)
			}
		}
		if len(step.Response()) > 1 || step.Flush().Len() != 0 {
			t.Errorf("it kept %.100q", step.Response())
		}
	}
}

// TestForgetting: a character over two batches is whole all the same, and no memory is kept for the text.
func TestForgetting(t *testing.T) {
	step := New(Options{Forget: true})
	if got := texts(step.Apply(content("x\xe2\x82"))); !reflect.DeepEqual(got, []string{"x"}) {
		t.Errorf("got %q", got)
	}
	if got := step.Apply(content("\xacy")); !reflect.DeepEqual(texts(got), []string{"€y"}) || got.Items[0].Offset != 1 {
		t.Errorf("got %q at %d", texts(got), got.Items[0].Offset)
	}
	big := content(strings.Repeat("a", 1<<20))
	for range 64 {
		step.Apply(big)
	}
	step.Apply(content("b"))
	if cap(step.content.escaped) > keptBytes {
		t.Errorf("it keeps %d bytes", cap(step.content.escaped))
	}
}

func TestFramesAllocateNothing(t *testing.T) {
	step, batch := New(Options{Forget: true}), gatewayBatch("a", `{"kind":"log","data":"x"}`)
	if n := testing.AllocsPerRun(100, func() { step.Apply(batch) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

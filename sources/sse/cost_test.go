package sse

import (
	"strings"
	"testing"
)

// chunk is one chunk as llama-server writes it; 240 bytes are typical.
const chunk = `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":" stream"}}],` +
	`"created":1700000000,"id":"chatcmpl-0123456789abcdefghijABCDEFGHIJ01","model":"bigram",` +
	`"system_fingerprint":"b1-0000000","object":"chat.completion.chunk"}` + "\n\n"

func TestNoAllocations(t *testing.T) {
	crlf := strings.ReplaceAll(chunk, "\n", "\r\n")
	for name, stream := range map[string]string{
		"chunks":            strings.Repeat(chunk, 100),
		"CRLF":              strings.Repeat(crlf, 100),
		"types, ids, lines": strings.Repeat("event: add\nid: 7\ndata: a\ndata: b\n: c\n\n", 100),
	} {
		t.Run(name, func(t *testing.T) {
			// 1,021 is prime, so that the pieces are cut at ever different places.
			pieces := cut([]byte(stream), 1021)
			events := 0
			yield := func(Event) error { events++; return nil }
			d := New(Options{})
			allocations := testing.AllocsPerRun(10, func() {
				for _, piece := range pieces {
					if err := d.Decode(piece, yield); err != nil {
						t.Fatal(err)
					}
				}
			})
			if allocations != 0 || events != 1100 {
				t.Errorf("%v allocations and %d events; want 0 and 1100", allocations, events)
			}
		})
	}
}

func TestWholeEventIsNotCopied(t *testing.T) {
	p := []byte("event: add\ndata: text\n\n")
	inside := false
	err := New(Options{}).Decode(p, func(e Event) error {
		inside = &e.Data[0] == &p[len("event: add\ndata: ")] && &e.Type[0] == &p[len("event: ")]
		return nil
	})
	if err != nil || !inside {
		t.Errorf("the event was copied (%v)", err)
	}
}

func TestBigFrameIsLetGo(t *testing.T) {
	d := New(Options{})
	yield := func(Event) error { return nil }
	for _, piece := range cut([]byte("data: "+strings.Repeat("x", 1<<20)+"\ndata: y\n\n"+chunk), 4096) {
		if err := d.Decode(piece, yield); err != nil {
			t.Fatal(err)
		}
	}
	if kept := cap(d.line) + cap(d.data.buffer) + cap(d.kind.buffer); kept > 2*keptBytes {
		t.Errorf("%d bytes are kept after a big frame", kept)
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, size := range map[string]int{"16KiB": 16 << 10, "64KiB": 64 << 10} {
		b.Run(name, func(b *testing.B) {
			pieces := cut([]byte(strings.Repeat(chunk, 2048)), size)
			events := 0
			yield := func(e Event) error { events++; return nil }
			d := New(Options{})
			b.ReportAllocs()
			b.SetBytes(int64(len(chunk)))
			for i := 0; events < b.N; i++ {
				if err := d.Decode(pieces[i%len(pieces)], yield); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func cut(stream []byte, size int) (pieces [][]byte) {
	for len(stream) > size {
		pieces = append(pieces, stream[:size])
		stream = stream[size:]
	}
	return append(pieces, stream)
}

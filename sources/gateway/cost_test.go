package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/wire"
)

// repeated is a body that brings the same piece, whole frames or not, n times.
type repeated struct {
	piece string
	left  int
}

func (b *repeated) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	b.left--
	return copy(p, b.piece), nil
}

func (b *repeated) Close() error { return nil }

// counter is a stage that counts tokens and their bytes.
type counter struct{ tokens, bytes int }

func (c *counter) Push(_ context.Context, element any) error {
	for _, token := range element.(*wire.Tokens).Items {
		c.tokens++
		c.bytes += len(token.Raw)
	}
	return nil
}

func (c *counter) Done(error) {}

// TestTextsCostNoAllocation: from the body on, whether a text comes alone, with others, with events
// around it, or ends in the next read.
func TestTextsCostNoAllocation(t *testing.T) {
	plain := frameOf(" stream")
	for name, piece := range map[string]string{
		"alone": plain, "cut": plain[20:] + plain[:20], "many": strings.Repeat(plain, 100), "CRLF": strings.ReplaceAll(plain, "\n", "\r\n"),
		"not plain": frameOf(`안\n`), "named": "event: message\n" + plain, "with comments": ": beat\n\n" + plain,
		"with events": "event: execution_io\ndata: {\"execution_io_id\":512}\n\n" + plain,
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(reads int) float64 {
				return testing.AllocsPerRun(5, func() {
					c := &counter{}
					s := &Stream{next: c}
					if err := s.receive(context.Background(), &repeated{piece, reads}); err != nil {
						t.Fatal(err)
					}
					if c.tokens < reads-1 {
						t.Fatalf("%d tokens of %d reads", c.tokens, reads)
					}
				})
			}
			if few, many := cost(50), cost(1_000); many > few {
				t.Errorf("50 reads cost %v allocations, 1,000 cost %v", few, many)
			}
		})
	}
}

// BenchmarkText reads texts from memory, as net/http hands them over.
func BenchmarkText(b *testing.B) {
	compact := func(content string) string { return `data: {"type":"data","content":"` + content + `"}` + "\n\n" }
	for name, frame := range map[string]string{
		"plain": compact(" stream"), "korean": compact(" 안녕하세요"), "escaped": compact(` \uc548\ub155\n`), "crlf": strings.ReplaceAll(compact(" stream"), "\n", "\r\n"),
	} {
		for _, size := range []int{1, 64 << 10} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				piece := []byte(strings.Repeat(frame, max(1, size/len(frame))))
				r := newReader()
				b.ReportAllocs()
				b.SetBytes(int64(len(frame)))
				for n := 0; n < b.N; {
					if err := r.read(piece); err != nil {
						b.Fatal(err)
					}
					n += len(r.tokens.Items)
					r.reset()
				}
			})
		}
	}
}

// BenchmarkTemplateMiss reads texts each of which needs the full parse.
func BenchmarkTemplateMiss(b *testing.B) {
	piece := []byte(`data: {"type":"data","content":" stream","n":1}` + "\n\n" + `data: {"type":"data","content":" stream","n":2}` + "\n\n")
	r := newReader()
	b.ReportAllocs()
	for n := 0; n < b.N; n += 2 {
		_ = r.read(piece)
		r.reset()
	}
}

// BenchmarkSocket reads texts from a loopback socket through net/http; an operation is one text.
func BenchmarkSocket(b *testing.B) {
	for name, frame := range map[string]string{"plain": frameOf(" stream"), "korean": frameOf(" 안녕하세요")} {
		b.Run(name, func(b *testing.B) {
			c := &counter{}
			server := serveFrames(b, frame, b.N)
			client := NewClient(Options{})
			defer client.Close()
			stream := client.Account(server, &heldSession{access: "token"}).OpenChat(ChatRequest{Input: `""`})
			stream.next = c
			b.ReportAllocs()
			b.ResetTimer()
			if err := stream.Run(b.Context()); err != nil || c.tokens != b.N {
				b.Fatal(err, c.tokens)
			}
		})
	}
}

// serveFrames is a server whose answer is n times the same frame, written in large pieces.
func serveFrames(b *testing.B, frame string, n int) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	const together = 512
	piece := strings.Repeat(frame, together)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for left := n; left > 0; left -= together {
			_, _ = io.WriteString(w, piece[:len(frame)*min(left, together)])
		}
	})}
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

package gateway

import (
	"context"
	"io"
	"net"
	"time"
)

// scripted is a body of pieces: text is read, a duration waited for, an error returned.
type scripted struct{ pieces []any }

func (s *scripted) Read(p []byte) (int, error) {
	for len(s.pieces) > 0 {
		piece := s.pieces[0]
		s.pieces = s.pieces[1:]
		switch piece := piece.(type) {
		case string:
			return copy(p, piece), nil
		case error:
			return 0, piece
		case time.Duration:
			time.Sleep(piece)
		}
	}
	return 0, io.EOF
}

func (s *scripted) Close() error { return nil }

// frameOf is a frame of text as the gateway writes it; content is the inside of a JSON string.
func frameOf(content string) string { return "data: " + dataOf(content) + "\n\n" }

func dataOf(content string) string { return `{"type": "data", "content": "` + content + `"}` }

func countDials(dial func(context.Context, string, string) (net.Conn, error), n *int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		*n++
		return dial(ctx, network, address)
	}
}

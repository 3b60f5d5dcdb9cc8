package tools

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestReadLine(t *testing.T) {
	for name, c := range map[string]struct {
		input string
		limit int
		lines []string
		err   error
	}{
		"lines":                  {"a\n\nbc\n", 10, []string{"a", "", "bc"}, io.EOF},
		"no last end":            {"a\nbc", 10, []string{"a"}, io.EOF},
		"longer than the buffer": {strings.Repeat("x", 100) + "\ny\n", 101, []string{strings.Repeat("x", 100), "y"}, io.EOF},
		"too long":               {"a\n" + strings.Repeat("x", 100) + "\n", 100, []string{"a"}, tooLong(100)},
		"never ending":           {strings.Repeat("x", 1000), 100, nil, tooLong(100)},
	} {
		t.Run(name, func(t *testing.T) {
			reader := bufio.NewReaderSize(strings.NewReader(c.input), 16)
			var lines []string
			for {
				line, err := readLine(reader, c.limit)
				if err != nil {
					if err != c.err || !slices.Equal(lines, c.lines) {
						t.Errorf("got %q, %v", lines, err)
					}
					return
				}
				lines = append(lines, string(line))
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		"", " ", "x", "[]", "[", "null", "5", `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"m"}`,
		`[{"jsonrpc":"2.0","id":"a","method":"m"},5]`, `{"jsonrpc":"2.0","id":1.5,"error":{"code":1,"message":"x"}}`, `{"jsonrpc":"1.0"}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		messages, err := parse(line, new(answers).decode)
		for _, message := range messages {
			if message == nil {
				t.Fatal("a message that is none")
			}
			if _, err := jsonrpc.EncodeMessage(message); err != nil {
				t.Errorf("%q can't be encoded: %v", line, err)
			}
		}
		if err == nil && len(messages) == 0 && len(strings.Trim(string(line), "[] \t\r\n\v\f\u0085\u00a0\ufeff")) > 0 && line[0] != '[' {
			t.Errorf("%q vanished", line)
		}
	})
}

// What a server doesn't read is kept up to a limit; what was surely not written is known.
func TestPipesUnread(t *testing.T) {
	theirs, stdin := io.Pipe()
	stdout, ours := io.Pipe()
	ended := make(chan struct{})
	p := newPipes(stdin, stdout, ended, 1<<20, func(string) {}, nil)
	id, _ := jsonrpc.MakeID("x")
	message := &jsonrpc.Request{ID: id, Method: strings.Repeat("m", 300<<10)}
	var marks []*mark
	var err error
	for range 4 {
		m := new(mark)
		marks = append(marks, m)
		if err = p.Write(withMark(context.Background(), m), message); err != nil {
			break
		}
	}
	if len(marks) != 4 || !errors.Is(err, errUnread) {
		t.Errorf("%d writes, %v", len(marks), err)
	}
	_ = theirs.Close() // it ends without having read anything
	_ = ours.Close()
	close(ended)
	if _, err := p.Read(context.Background()); err != io.EOF {
		t.Errorf("got %v", err)
	}
	_ = p.Close()
	p.wait()
	for i, m := range marks {
		if m.sent.Load() {
			t.Errorf("message %d is said to be sent", i)
		}
	}
	if err := p.Write(context.Background(), message); !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
}

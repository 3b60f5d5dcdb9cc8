package tools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// tooLong says that a server sent a message that is longer than the limit in bytes.
type tooLong int

func (limit tooLong) Error() string {
	return "it sent a message of more than " + size(int(limit)) + ", which is the limit; ask its tool for less at once"
}

// size tells a number of bytes to people.
func size(bytes int) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// readLine returns the next line without its end, in memory of its own where it is long. A line longer
// than limit bytes is a tooLong.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var long []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(long)+len(piece) > limit {
			return nil, tooLong(limit)
		}
		switch {
		case err == nil && long == nil:
			return piece[:len(piece)-1], nil
		case err == nil:
			return appendDoubling(long, piece[:len(piece)-1], limit), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
		long = appendDoubling(long, piece, limit)
	}
}

// appendDoubling appends, at twice the room where there is none left, but not for much more than limit
// bytes: the runtime adds a quarter at a time, which for a long line makes twice the garbage.
func appendDoubling(long, piece []byte, limit int) []byte {
	if need := len(long) + len(piece); need > cap(long) {
		room := make([]byte, len(long), max(need, min(2*cap(long), limit)))
		copy(room, long)
		long = room
	}
	return append(long, piece...)
}

// parse returns the messages of a line: one, or those of a batch, which protocol 2025-03-26 allows. Of
// a blank line there are none. An error says that something in it is no message; the others are
// returned nevertheless. A line may begin with a byte order mark, as the first one of some servers does.
func parse(line []byte, decode func([]byte) (jsonrpc.Message, error)) ([]jsonrpc.Message, error) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\uFEFF")))
	if len(line) == 0 {
		return nil, nil
	}
	if line[0] != '[' {
		message, err := decode(line)
		if err != nil {
			return nil, err
		}
		return []jsonrpc.Message{message}, nil
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil {
		return nil, err
	}
	var messages []jsonrpc.Message
	var failed error
	for _, one := range batch {
		message, err := decode(one)
		if err != nil {
			failed = err
			continue
		}
		messages = append(messages, message)
	}
	return messages, failed
}

// Package peers holds the programs that stand beside the engine in one run: the limit, which moves
// the engine's bytes without looking at them, and the copier, which forwards each read at once.
//
// Each runs in a process of its own and with one goroutine; the caller closes what it hands over.
package peers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"

	"sluice/internal/bench/load"
	"sluice/internal/bench/tokens"
)

const (
	pieceBytes = 64 << 10 // of one read and of one write
	lineHead   = `{"id":"1","type":"event","event":"llm_chunk","step":0,"delta":"`
	lineTail   = `"}` + "\n"
	finalHead  = `{"id":"1","type":"result","result":{"filler":"`
	finalTail  = `"}}` + "\n"
)

// LimitOptions describe what the limit moves.
type LimitOptions struct {
	Address string // of the load server
	Tokens  int    // that the request on stdin asks for
	Bytes   int    // to write in all; more than the lines of the tokens is filled up by the final line
}

// Limit sends what one read of input brings, a whole HTTP request that asks for the connection to be
// closed, to the server. It then reads every byte of the answer and writes as many lines as tokens
// came, rendered before, and a final line. It returns the first error.
func Limit(options LimitOptions, input io.Reader, output int) error {
	connection, err := net.Dial("tcp", options.Address)
	if err != nil {
		return err
	}
	defer connection.Close()
	socket, err := blockingSocket(connection)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	request := make([]byte, pieceBytes)
	n, err := input.Read(request)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if err := writeAll(socket, request[:n]); err != nil {
		return err
	}
	lines := newLineWriter(output)
	if err := pump(socket, lines, options.Tokens); err != nil {
		return err
	}
	return lines.finish(options)
}

// pump reads to the end of the stream and writes a full piece as soon as the tokens for it came.
func pump(socket int, lines *lineWriter, count int) error {
	buffer := make([]byte, pieceBytes)
	frame := load.FrameBytes(tokens.PlainWidth)
	for received := 0; ; {
		n, err := unix.Read(socket, buffer)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 {
			return err
		}
		received += n
		for min(received/frame, count)-lines.written >= lines.perPiece {
			if err := lines.write(lines.perPiece); err != nil {
				return err
			}
		}
	}
}

// lineWriter writes pieces of numbered lines that are rendered once.
type lineWriter struct {
	output   int
	piece    []byte
	perPiece int // lines
	written  int // lines
	bytes    int
}

const lineBytes = len(lineHead) + tokens.PlainWidth + len(lineTail)

func newLineWriter(output int) *lineWriter {
	w := &lineWriter{output: output, perPiece: pieceBytes / lineBytes}
	line := lineHead + string(make([]byte, tokens.PlainWidth)) + lineTail
	w.piece = bytes.Repeat([]byte(line), w.perPiece)
	return w
}

func (w *lineWriter) write(count int) error {
	for i := range count {
		tokens.PutPlain(w.piece[i*lineBytes+len(lineHead):], w.written+i)
	}
	w.written += count
	return w.writeBytes(w.piece[:count*lineBytes])
}

func (w *lineWriter) writeBytes(data []byte) error {
	w.bytes += len(data)
	return writeAll(w.output, data)
}

// finish writes the lines that are left and the final line.
func (w *lineWriter) finish(options LimitOptions) error {
	for w.written < options.Tokens {
		if err := w.write(min(w.perPiece, options.Tokens-w.written)); err != nil {
			return err
		}
	}
	filler := bytes.Repeat([]byte{'x'}, pieceBytes)
	if err := w.writeBytes([]byte(finalHead)); err != nil {
		return err
	}
	for left := options.Bytes - w.bytes - len(finalTail); left > 0; left -= len(filler) {
		filler = filler[:min(left, len(filler))]
		if err := w.writeBytes(filler); err != nil {
			return err
		}
	}
	return w.writeBytes([]byte(finalTail))
}

// blockingSocket returns a descriptor of the connection that blocks in the kernel, not in Go's poller.
func blockingSocket(connection net.Conn) (int, error) {
	file, err := connection.(*net.TCPConn).File()
	if err != nil {
		return 0, err
	}
	defer file.Close()
	socket, err := unix.Dup(int(file.Fd()))
	if err != nil {
		return 0, err
	}
	return socket, unix.SetNonblock(socket, false)
}

func writeAll(descriptor int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(descriptor, data)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		data = data[max(n, 0):]
	}
	return nil
}

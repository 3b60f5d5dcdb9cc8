package guard

import (
	"errors"
	"fmt"
	"io"
	"net"
)

// What the calibration peer does, given as its first argument.
const (
	peerCopies = "copy" // with the load server's address as its second
	peerEchoes = "echo"
)

// RunPeer plays the calibration peer, a program with the engine's runtime and without its work: it
// either takes one HTTP request on its input and writes all that the load server answers, or
// repeats its input. It returns when the input has ended.
func RunPeer(arguments []string, input io.Reader, output io.Writer) error {
	switch {
	case len(arguments) == 2 && arguments[0] == peerCopies:
		return copyAnswer(arguments[1], input, output)
	case len(arguments) == 1 && arguments[0] == peerEchoes:
		return forward(output, input)
	}
	return fmt.Errorf("unexpected arguments %q", arguments)
}

func copyAnswer(address string, input io.Reader, output io.Writer) error {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	request := make([]byte, forwardBytes)
	n, err := input.Read(request)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if _, err := connection.Write(request[:n]); err != nil {
		return err
	}
	if err := forward(output, connection); err != nil {
		return err
	}
	return forward(io.Discard, input) // stays until its CPU time was read
}

const forwardBytes = 64 << 10

// forward writes what each read brings at once. Unlike io.Copy it never leaves that to the kernel,
// which would not be what the engine has to do.
func forward(output io.Writer, input io.Reader) error {
	buffer := make([]byte, forwardBytes)
	for {
		n, err := input.Read(buffer)
		if n > 0 {
			if _, err := output.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

package load

import (
	"errors"
	"fmt"
	"io"
)

// ServeUntilEnd prints the address of a new Server as a line to output and serves until the input
// ends. So a program of its own does what a benchmark needs, and its CPU time is nobody else's.
func ServeUntilEnd(input io.Reader, output io.Writer) error {
	server, err := Listen()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(output, server.Address()); err != nil {
		return errors.Join(err, server.Close())
	}
	go func() {
		defer server.Close()
		_, _ = io.Copy(io.Discard, input) // the end counts, however it came
	}()
	return server.Serve()
}

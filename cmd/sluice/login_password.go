package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
)

// longestPassword bounds what is read, in bytes.
const longestPassword = 4096

// readPassword asks for a password without echo, or reads the first line of stdin. It is no argument, since
// those are seen by all users of a machine and kept by shells.
func readPassword(ctx context.Context, s streams, fromStdin bool, server string) (string, error) {
	file, _ := s.in.(*os.File)
	terminal := file != nil && isTerminal(file)
	var password string
	var err error
	switch {
	case terminal:
		password, err = promptPassword(ctx, file, s.err, server)
	case fromStdin:
		password, err = readFirstLine(s.in)
	default:
		return "", &failure{exitUsage, "stdin is no terminal to ask for the password on: give it with --password-stdin"}
	}
	if err == nil && password == "" {
		return "", &failure{exitUsage, "the password is empty"}
	}
	return password, err
}

// promptPassword asks on a terminal. A signal gives the terminal its echo back; what reads then is left to
// the end of the process.
func promptPassword(ctx context.Context, terminal *os.File, prompt io.Writer, server string) (string, error) {
	before, err := term.GetState(terminal.Fd())
	if err != nil {
		return "", fmt.Errorf("the terminal can't be used: %w", err)
	}
	fmt.Fprintf(prompt, "Password for %s: ", stripped(server))
	defer fmt.Fprintln(prompt) // the person's own is not shown
	type answer struct {
		password []byte
		err      error
	}
	done := make(chan answer, 1)
	go func() {
		password, err := term.ReadPassword(terminal.Fd())
		done <- answer{password, err}
	}()
	select {
	case a := <-done:
		if errors.Is(a.err, io.EOF) {
			return "", nil
		}
		return string(a.password), a.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(terminal.Fd(), before))
	}
}

// readFirstLine reads the first line without its end.
func readFirstLine(in io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(in, longestPassword+2)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", errors.New("stdin can't be read")
	}
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if len(line) > longestPassword {
		return "", &failure{exitUsage, "the first line of stdin is too long for a password"}
	}
	return line, nil
}

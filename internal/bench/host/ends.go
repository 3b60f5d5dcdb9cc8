package host

import "os"

// ends are both sides of a program's stdin and stdout. They block, as those that hosts hand over do.
type ends struct {
	stdin, stdout           *os.File // ours
	childStdin, childStdout *os.File
}

func openEnds(socketPair bool) (*ends, error) {
	open := openPipe
	if socketPair {
		open = openSocketPair
	}
	childStdin, stdin, err := open()
	if err != nil {
		return nil, err
	}
	stdout, childStdout, err := open()
	if err != nil {
		childStdin.Close()
		stdin.Close()
		return nil, err
	}
	return &ends{stdin: stdin, stdout: stdout, childStdin: childStdin, childStdout: childStdout}, nil
}

func (e *ends) closeChild() {
	e.childStdin.Close()
	e.childStdout.Close()
}

func (e *ends) close() {
	e.closeChild()
	e.stdin.Close()
	e.stdout.Close()
}

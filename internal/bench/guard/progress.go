package guard

import (
	"fmt"
	"io"
	"os"
)

// PrintProgress returns a function that tells a person at a terminal which round runs, and nil
// where the writer is none. The line is erased when the last round begins.
func PrintProgress(output io.Writer) func(Progress) {
	file, ok := output.(*os.File)
	if !ok {
		return nil
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(p Progress) {
		fmt.Fprintf(file, "\r\033[K%s", p)
		if p.Round == p.Rounds {
			fmt.Fprint(file, "\r\033[K")
		}
	}
}

func (p Progress) String() string {
	if p.Session > p.Sessions {
		return fmt.Sprintf("measuring again what looks worse: round %d of %d", p.Round, p.Rounds)
	}
	return fmt.Sprintf("measurement %d of %d: round %d of %d", p.Session, p.Sessions, p.Round, p.Rounds)
}

package guard

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"sluice/internal/bench/load"
	"sluice/internal/bench/standin"
)

// TestMain lets the test binary play the load server, the peer and the engine.
func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == "load-server":
		err = load.ServeUntilEnd(os.Stdin, os.Stdout)
	case len(os.Args) > 1 && os.Args[1] == "peer":
		err = RunPeer(os.Args[2:], os.Stdin, os.Stdout)
	case standin.Wanted(os.Args[1:]):
		err = standin.Run(os.Args[1:], os.Stdin, os.Stdout)
	default:
		goleak.VerifyTestMain(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

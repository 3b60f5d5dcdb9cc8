// Package roles lets one binary play all programs of a benchmark but the engine: the load server and
// the limit run as processes of their own, so that their CPU time isn't the engine's or the reader's.
//
// Each role runs until its input ends or its work is done, and closes what it opened.
package roles

import (
	"flag"
	"fmt"
	"io"
	"os"

	"sluice/bench/peers"
	"sluice/internal/bench/load"
)

// Names of the roles, given as the program's first argument.
const (
	LoadServer = "load-server"
	Limit      = "limit"
)

// Run plays the role that the arguments (without the program's name) ask for and returns the exit
// status. It reports false, having done nothing, when they ask for none.
func Run(arguments []string) (status int, played bool) {
	if len(arguments) == 0 {
		return 0, false
	}
	var err error
	switch arguments[0] {
	case LoadServer:
		err = load.ServeUntilEnd(os.Stdin, os.Stdout)
	case Limit:
		err = runLimit(arguments[1:])
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, arguments[0]+":", err)
		return 1, true
	}
	return 0, true
}

func runLimit(arguments []string) error {
	var options peers.LimitOptions
	flags := flag.NewFlagSet(Limit, flag.ContinueOnError)
	flags.StringVar(&options.Address, "address", "", "host and port of the load server")
	flags.IntVar(&options.Tokens, "tokens", 0, "tokens that the request asks for")
	flags.IntVar(&options.Bytes, "bytes", 0, "bytes to write in all")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if err := peers.Limit(options, os.Stdin, int(os.Stdout.Fd())); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, os.Stdin) // stays until its CPU time was read
	return err
}

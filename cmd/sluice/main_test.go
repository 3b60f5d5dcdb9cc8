package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"sluice/internal/process"
)

// waiting is how many tests run at once: those that run processes wait for them most of the time.
const waiting = "8"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == guardianArgument { // of what commands start in tests
		syscall.Exit(process.RunGuardian(os.Stdin)) // os.Exit takes a second under the race detector
	}
	flag.Parse()
	_ = flag.Set("test.parallel", waiting)
	data, err := os.MkdirTemp("", "sluice-test-data-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("XDG_DATA_HOME", data) // no test stores anything in the home of whoever runs it
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		os.RemoveAll(programFolder)
		os.RemoveAll(data)
		os.Exit(status)
	}))
}

// programFolder holds the built program; empty until one is.
var programFolder string

// program is the built command: the one that SLUICE names, else one that is built, once for all tests.
var program = sync.OnceValues(func() (path string, err error) {
	if path = os.Getenv("SLUICE"); path != "" {
		return filepath.Abs(path)
	}
	if programFolder, err = os.MkdirTemp("", "sluice-test-"); err != nil {
		return "", err
	}
	path = filepath.Join(programFolder, "sluice")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

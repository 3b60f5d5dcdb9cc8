package session

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes this test binary a child process of a test: see the children.
const childVariable = "SLUICE_SESSION_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		os.Exit(children[name](os.Args[1:]))
	}
	// database/sql's opener ends a moment after Close returned.
	goleak.VerifyTestMain(m)
}

// children are what this binary does as a child process of a test, by name.
var children = map[string]func(arguments []string) int{}

package keychain

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// childVariable makes this test binary a program that uses the real keychain, with its value for the
// time-out: the connection to the session bus is the whole process's, so each call has one of its own.
const childVariable = "SLUICE_KEYCHAIN_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// answer is what the child prints.
type answer struct {
	Value string
	Found bool
	Error string
}

func child(args []string) int {
	timeout, err := time.ParseDuration(os.Getenv(childVariable))
	if err != nil {
		return 1
	}
	k, a := New(Options{Timeout: timeout}), answer{}
	switch args[0] {
	case "get":
		a.Value, a.Found, err = k.Get(nothing, args[1])
	case "set":
		err = k.Set(nothing, args[1], args[2])
	case "kind":
		a.Value, err = Kind(nothing)
	case "delete":
		err = k.Delete(nothing, args[1])
	}
	if err != nil {
		a.Error = err.Error()
	}
	if json.NewEncoder(os.Stdout).Encode(a) != nil {
		return 1
	}
	return 0
}

package profile

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes this test binary another engine; its value names the folder.
const childVariable = "SLUICE_PROFILE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		os.Exit(child(dir, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

package planner

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(inspectVariable); path != "" {
		os.Exit(inspectInChild(path))
	}
	goleak.VerifyTestMain(m)
}

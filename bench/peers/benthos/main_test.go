package main

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sluice/bench/peers/peertest"
)

// TestMain lets the test binary play the peer.
func TestMain(m *testing.M) {
	if peertest.Played() {
		main()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func TestEveryTokenIsDelivered(t *testing.T) {
	for _, name := range []string{"plain", "batch"} {
		t.Run(name, func(t *testing.T) { peertest.Check(t, os.Args[0], name) })
	}
}

func TestWrongCallsAreTold(t *testing.T) {
	for _, arguments := range [][]string{nil, {"plain"}, {"fast", "http://x"}} {
		if err := run(t.Context(), arguments); err == nil || !strings.Contains(err.Error(), "usage") {
			t.Errorf("run(%q): %v", arguments, err)
		}
	}
}

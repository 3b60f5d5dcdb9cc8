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

func TestEachWriterDeliversEveryToken(t *testing.T) {
	for _, name := range names() {
		t.Run(name, func(t *testing.T) { peertest.Check(t, os.Args[0], name) })
	}
}

func TestWrongCallsAreToldTheNames(t *testing.T) {
	for _, arguments := range [][]string{nil, {"json-event"}, {"fastest", "http://x"}} {
		err := run(t.Context(), arguments, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "json-batch|json-channel|json-event|streams") {
			t.Errorf("run(%q): %v", arguments, err)
		}
	}
}

package main

import (
	"errors"
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

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestEachWriterEndsWithItsReader(t *testing.T) {
	url := peertest.StartLoad(t)
	for _, name := range names() {
		request := strings.NewReader(`{"id":"1","params":{"input":"n=5000"}}` + "\n")
		if err := run(t.Context(), []string{name, url}, request, broken{}); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
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

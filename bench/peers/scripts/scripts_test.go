package scripts

import (
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"sluice/bench/peers/peertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEachScriptDeliversEveryToken(t *testing.T) {
	asyncio, node, err := Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ program, script, mode string }{
		{"python3", asyncio, "queue"},
		{"python3", asyncio, "thread"},
		{"node", node, "event"},
		{"node", node, "batch"},
		{"node", node, "drain"},
	} {
		t.Run(test.program+" "+test.mode, func(t *testing.T) {
			if _, err := exec.LookPath(test.program); err != nil {
				t.Fatal(err)
			}
			peertest.Check(t, test.program, test.script, test.mode)
		})
	}
}

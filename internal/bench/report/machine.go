package report

import (
	"runtime"

	"sluice/internal/bench/guard"
)

// Machine is where figures come from.
type Machine struct {
	guard.Machine        // its members stand beside Go's version
	Go            string `json:"go"` // of which the engine was built
}

// ThisMachine describes the running one.
func ThisMachine() Machine { return Machine{guard.ThisMachine(), runtime.Version()} }

// String returns the machine in one line.
func (m Machine) String() string { return m.Machine.String() + ", " + m.Go }

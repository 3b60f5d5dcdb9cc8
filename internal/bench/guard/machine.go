package guard

import (
	"fmt"
	"runtime"
)

// Machine is what makes two runs comparable: ratios to a peer differ from one kind of processor to
// another and with the number of cores, since three programs run at once.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	System    string `json:"system"` // GOOS/GOARCH
}

func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s", m.Processor, m.Cores, m.System)
}

// unknownProcessor stands for a model that the system does not tell.
const unknownProcessor = "unknown processor"

// ThisMachine describes the machine that the program runs on.
func ThisMachine() Machine {
	return Machine{Processor: processor(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH}
}

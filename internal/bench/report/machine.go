package report

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// Machine is where figures come from.
type Machine struct {
	Processor string `json:"processor"` // as the system names it
	Cores     int    `json:"cores"`     // that Go uses
	System    string `json:"system"`    // GOOS/GOARCH
	Go        string `json:"go"`        // of which the engine was built
}

// ThisMachine describes the running one.
func ThisMachine() Machine {
	m := Machine{
		Processor: runtime.GOARCH, Cores: runtime.GOMAXPROCS(0),
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
	}
	if file, err := os.Open("/proc/cpuinfo"); err == nil { // Linux alone has it
		defer file.Close()
		if name := modelName(file); name != "" {
			m.Processor = name
		}
	}
	return m
}

// modelName reads /proc/cpuinfo; it is empty where that tells none, as on ARM.
func modelName(cpuinfo io.Reader) string {
	for lines := bufio.NewScanner(cpuinfo); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// String returns the machine in one line.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %s, %s, %s", m.Processor, counted(m.Cores, "core"), m.System, m.Go)
}

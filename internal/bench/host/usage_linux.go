package host

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func readUsage(pid int) (Usage, error) {
	cpu, err := cpuTime(pid)
	if err != nil {
		return Usage{}, err
	}
	peak, err := peakRSS(pid)
	return Usage{CPU: cpu, PeakRSS: peak}, err
}

// cpuTime reads the process's CPU clock, which counts nanoseconds where /proc/PID/stat counts ticks
// of 10 ms. The number of the clock is built as in clock_getcpuclockid(3).
func cpuTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of a process
	var spent unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &spent); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	return time.Duration(spent.Nano()), nil
}

func peakRSS(pid int) (int64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		value, found := strings.CutPrefix(scanner.Text(), "VmHWM:")
		if !found {
			continue
		}
		kibibytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		return kibibytes << 10, err
	}
	return 0, fmt.Errorf("no VmHWM of process %d", pid)
}

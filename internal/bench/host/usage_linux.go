package host

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

func readUsage(pid int) (usage Usage, err error) {
	if usage.CPU, err = cpuTime(pid); err != nil {
		return Usage{}, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Usage{}, err
	}
	if usage.RSS, err = memory(status, "VmRSS:"); err != nil {
		return Usage{}, err
	}
	usage.PeakRSS, err = memory(status, "VmHWM:")
	return usage, err
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

// memory returns a field of /proc/PID/status in bytes.
func memory(status []byte, field string) (int64, error) {
	for line := range bytes.Lines(status) {
		value, found := bytes.CutPrefix(line, []byte(field))
		if !found {
			continue
		}
		kibibytes, err := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(value), []byte(" kB"))), 10, 64)
		return kibibytes << 10, err
	}
	return 0, fmt.Errorf("it has no %s", field)
}

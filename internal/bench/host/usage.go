package host

import "time"

// Usage is what a process has used since its start. All is 0 on systems that don't tell it of a
// process that runs; Linux does.
type Usage struct {
	CPU     time.Duration // user and system time of all its threads
	RSS     int64         // bytes that it holds now, VmRSS
	PeakRSS int64         // bytes, VmHWM; wait4's maximum would include the memory of the forking parent
}

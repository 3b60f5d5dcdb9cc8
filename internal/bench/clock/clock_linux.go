package clock

import "golang.org/x/sys/unix"

// SleepUntil returns once Now has reached the given time. It blocks its thread in the kernel, since
// the Go timers wake up to a millisecond late when the process is otherwise idle.
func SleepUntil(nanoseconds int64) {
	deadline := unix.NsecToTimespec(nanoseconds)
	for Now() < nanoseconds {
		unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &deadline, nil)
	}
}

// PreciseSleeps asks the kernel to wake the calling thread without its usual slack of 50 us. The
// caller has locked its goroutine to the thread.
func PreciseSleeps() error {
	return unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

func readOrigin() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic("clock: CLOCK_MONOTONIC is not readable: " + err.Error())
	}
	return now.Nano()
}

//go:build !linux

package clock

import "time"

// SleepUntil returns once Now has reached the given time.
func SleepUntil(nanoseconds int64) {
	for now := Now(); now < nanoseconds; now = Now() {
		time.Sleep(time.Duration(nanoseconds - now))
	}
}

// PreciseSleeps does nothing here.
func PreciseSleeps() error { return nil }

func readOrigin() int64 { return time.Now().UnixNano() }

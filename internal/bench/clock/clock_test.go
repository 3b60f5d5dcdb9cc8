package clock

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// TestMain prints the time in a process of its own when it is asked to.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_CLOCK") != "" {
		os.Stdout.WriteString(strconv.FormatInt(Now(), 10))
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func TestProcessesShareTheClock(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "BENCH_CLOCK=1", "GORACE=atexit_sleep_ms=0")
	before := Now()
	output, err := command.Output()
	after := Now()
	if err != nil {
		t.Fatal(err)
	}
	between, err := strconv.ParseInt(string(output), 10, 64)
	if err != nil || between < before || between > after {
		t.Errorf("the other process read %s between %d and %d, %v", output, before, after, err)
	}
}

func TestSleepEndsAfterItsTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := PreciseSleeps(); err != nil {
		t.Fatal(err)
	}
	for _, ahead := range []int64{-1, 0, 1_000_000} {
		until := Now() + ahead
		SleepUntil(until)
		if now := Now(); now < until {
			t.Errorf("it ended %d ns early", until-now)
		}
	}
}

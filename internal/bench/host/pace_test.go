package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// readAll lets a pace take everything of an endless output for some time and returns the bytes and
// the longest time between two reads.
func readAll(t *testing.T, pace Pace, perRead int, during time.Duration) (taken int, longest time.Duration) {
	begun, last, n := time.Now(), time.Now(), 0
	for time.Since(begun) < during {
		limit := pace.Wait(t.Context(), n)
		longest = max(longest, time.Since(last))
		if limit == 0 {
			break
		}
		last = time.Now()
		n = min(limit, perRead)
		taken += n
		time.Sleep(time.Millisecond) // what a read takes
	}
	return taken, longest
}

func TestModelsReadAsTheirNamesSay(t *testing.T) {
	for _, test := range []struct {
		model     Model
		least     int // bytes read in 10 s
		most      int
		longest   time.Duration // between two reads
		tolerance time.Duration
	}{
		{Model{}, 900_000_000, 1_000_000_000, time.Millisecond, 0},
		{Model{Reader: ReaderThrottled}, 600_000, 650_000, 63 * time.Millisecond, 2 * time.Millisecond},
		{Model{Reader: ReaderThrottled, BytesPerSecond: 3}, 29, 31, 334 * time.Millisecond, 2 * time.Millisecond},
		{Model{Reader: ReaderBursty}, 85_000_000, 95_000_000, 101 * time.Millisecond, time.Millisecond},
		{Model{Reader: ReaderBursty, Pause: time.Second, Read: time.Second}, 490_000_000, 510_000_000, 1001 * time.Millisecond, time.Millisecond},
		{Model{Reader: ReaderStalled, Stall: 4 * time.Second}, 590_000_000, 610_000_000, 4 * time.Second, 0},
		{Model{Reader: ReaderTrickle}, 9_000, 10_000, 2 * time.Millisecond, 0},
		{Model{Reader: ReaderClosed}, 1 << 20, 1 << 20, time.Millisecond, 0},
		{Model{Reader: ReaderClosed, CloseAfter: 7}, 7, 7, time.Millisecond, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			if err := test.model.Check(); err != nil {
				t.Fatal(err)
			}
			taken, longest := readAll(t, test.model.Pace(), 100_000, 10*time.Second)
			if taken < test.least || taken > test.most || (longest-test.longest).Abs() > test.tolerance {
				t.Errorf("%+v: %d bytes, at most %v apart", test.model, taken, longest)
			}
		})
	}
}

func TestUnknownReaderIsToldTheNames(t *testing.T) {
	err := Model{Reader: "lazy"}.Check()
	if err == nil || !strings.Contains(err.Error(), "fast, throttled, bursty, stalled, trickle, closed") {
		t.Errorf("Check: %v", err)
	}
}

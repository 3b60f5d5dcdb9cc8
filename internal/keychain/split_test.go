package keychain

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const testLargest = 48

func newSplit() (split, *memory) {
	b := newMemory()
	b.largest = testLargest
	return split{b, testLargest}, b
}

func TestSplitValues(t *testing.T) {
	s, b := newSplit()
	for _, size := range []int{0, 1, testLargest, testLargest + 1, 5 * testLargest, 5*testLargest + 1, 3, 2 * testLargest} {
		value := strings.Repeat("안", size)[:size]
		if err := s.set("a", value); err != nil {
			t.Fatal(size, err)
		}
		if got, err := s.get("a"); got != value || err != nil {
			t.Fatalf("%d bytes came back as %d, %v", size, len(got), err)
		}
		want := 1
		if size > testLargest {
			want += (size + testLargest - 1) / testLargest
		}
		if len(b.entries) != want {
			t.Errorf("%d bytes stand in %d entries, want %d: %v", size, len(b.entries), want, slices.Sorted(maps.Keys(b.entries)))
		}
	}
	if err := s.remove("a"); err != nil || len(b.entries) != 0 {
		t.Errorf("remove = %v, and leaves %d entries", err, len(b.entries))
	}
	if err := s.remove("a"); !errors.Is(err, errNotFound) {
		t.Errorf("remove = %v, want not found", err)
	}
}

func TestWholeValuesAreStoredAsTheyAre(t *testing.T) {
	s, b := newSplit()
	for _, value := range []string{`{"serverUrl":"https://x"}`, "not json", `{"set":"","parts":2}`, `{"set":"x","parts":0}`} {
		if err := s.set("a", value); err != nil || b.entries["a"] != value {
			t.Fatalf("%v, stored %q, want %q", err, b.entries["a"], value)
		}
		if got, err := s.get("a"); got != value || err != nil {
			t.Errorf("get = %q, %v, want %q", got, err, value)
		}
	}
}

func TestFailedChangeKeepsTheValueBefore(t *testing.T) {
	s, b := newSplit()
	long := strings.Repeat("l", 3*testLargest)
	if err := s.set("a", long); err != nil {
		t.Fatal(err)
	}
	for failing := 1; failing <= 4; failing++ { // three parts and the account's own entry
		broken := split{&failingSet{memory: b, left: failing}, testLargest}
		if err := broken.set("a", strings.Repeat("n", 3*testLargest)); err == nil {
			t.Fatalf("set succeeded although write %d failed", failing)
		}
		if got, err := s.get("a"); got != long || err != nil {
			t.Errorf("after a failed write %d: %d bytes, %v", failing, len(got), err)
		}
		if len(b.entries) != 4 {
			t.Errorf("a failed write %d leaves %d entries, want 4", failing, len(b.entries))
		}
	}
}

// failingSet fails the write that left counts down to.
type failingSet struct {
	*memory
	left int
}

func (f *failingSet) set(account, value string) error {
	if f.left--; f.left == 0 {
		return errors.New("full")
	}
	return f.memory.set(account, value)
}

func TestReadWhileAnotherChanges(t *testing.T) {
	s, b := newSplit()
	values := make([]string, 3)
	for i := range values {
		values[i] = strings.Repeat(fmt.Sprint(i), 2*testLargest)
	}
	if err := s.set("a", values[0]); err != nil {
		t.Fatal(err)
	}
	changing := &changingGet{memory: b, change: func() {
		if err := s.set("a", values[1]); err != nil {
			t.Error(err)
		}
	}}
	if got, err := (split{changing, testLargest}).get("a"); got != values[1] || err != nil {
		t.Errorf("get = %.8q, %v, want the new value", got, err)
	}
	delete(b.entries, slices.Sorted(maps.Keys(b.entries))[1])
	if got, err := s.get("a"); !errors.Is(err, errNotFound) {
		t.Errorf("get = %.8q, %v, want no value for a missing part", got, err)
	}
	if err := s.set("a", "new"); err != nil || len(b.entries) != 1 {
		t.Errorf("set = %v, and leaves %d entries", err, len(b.entries))
	}
}

// changingGet has the value changed by another, once, after the first read.
type changingGet struct {
	*memory
	change func()
}

func (c *changingGet) get(account string) (string, error) {
	value, err := c.memory.get(account)
	if change := c.change; change != nil {
		c.change = nil
		change()
	}
	return value, err
}

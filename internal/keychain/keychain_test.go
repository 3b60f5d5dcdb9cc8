package keychain

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var nothing = context.Background()

// memory is a backend whose calls may be held up.
type memory struct {
	mu      sync.Mutex
	entries map[string]string
	writes  []string      // accounts, in order
	hold    chan struct{} // nil: no call waits; else each waits until it is closed
	failure error
	panics  bool
	largest int // of an entry; 0 is no limit
}

func newMemory() *memory { return &memory{entries: map[string]string{}} }

func (m *memory) wait() error {
	if m.hold != nil {
		<-m.hold
	}
	if m.panics {
		var nobody *memory
		nobody.entries["x"] = "" // what the library does when the bus goes away
	}
	return m.failure
}

func (m *memory) get(account string) (string, error) {
	if err := m.wait(); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.entries[account]
	if !ok {
		return "", errNotFound
	}
	return value, nil
}

func (m *memory) set(account, value string) error {
	if err := m.wait(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.largest > 0 && len(value) > m.largest {
		return errors.New("too big")
	}
	m.entries[account] = value
	m.writes = append(m.writes, account+"="+value)
	return nil
}

func (m *memory) remove(account string) error {
	if err := m.wait(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.entries[account]; !ok {
		return errNotFound
	}
	delete(m.entries, account)
	return nil
}

func TestEntries(t *testing.T) {
	k := newKeychain(newMemory(), Options{})
	wantMissing(t, k, "a")
	for _, value := range []string{"one", "two", "", "안녕"} {
		if err := k.Set(nothing, "a", value); err != nil {
			t.Fatal(err)
		}
		if got, found, err := k.Get(nothing, "a"); got != value || !found || err != nil {
			t.Fatalf("Get = %q, %v, %v; want %q", got, found, err, value)
		}
	}
	for range 2 { // the second finds nothing to delete, which is no error
		if err := k.Delete(nothing, "a"); err != nil {
			t.Fatal(err)
		}
	}
	wantMissing(t, k, "a")
}

func wantMissing(t *testing.T, k *Keychain, account string) {
	t.Helper()
	if value, found, err := k.Get(nothing, account); value != "" || found || err != nil {
		t.Fatalf("Get = %q, %v, %v; want nothing", value, found, err)
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	for name, b := range map[string]*memory{
		"refused": {failure: errors.New("org.freedesktop.DBus.Error.ServiceUnknown:\nno such name")},
		"panic":   {panics: true},
	} {
		k := newKeychain(b, Options{})
		_, _, got := k.Get(nothing, "a")
		for _, err := range []error{got, k.Set(nothing, "a", "SECRET"), k.Delete(nothing, "a")} {
			var unavailable *Unavailable
			if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), advice) || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestTooLongValue(t *testing.T) {
	b := newMemory()
	err := newKeychain(b, Options{}).Set(nothing, "a", strings.Repeat("s", largestValue+1))
	var unavailable *Unavailable
	if !errors.As(err, &unavailable) || strings.Contains(err.Error(), "sss") || len(b.entries) != 0 {
		t.Fatalf("Set = %v", err)
	}
}

func TestSilentKeychain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newMemory()
		b.hold = make(chan struct{})
		k := newKeychain(b, Options{})
		begun := time.Now()
		calls := func() (took []time.Duration) {
			var wait sync.WaitGroup
			var mu sync.Mutex
			for range 6 {
				wait.Go(func() {
					_, _, err := k.Get(nothing, "a")
					var unavailable *Unavailable
					if !errors.As(err, &unavailable) {
						t.Errorf("Get = %v", err)
					}
					mu.Lock()
					defer mu.Unlock()
					took = append(took, time.Since(begun))
				})
			}
			wait.Wait()
			return took
		}
		for _, took := range calls() {
			if took != defaultTimeout {
				t.Errorf("a call took %s, want %s", took, defaultTimeout)
			}
		}
		if n := len(k.reads); n != parallelReads {
			t.Errorf("%d calls are under way, want %d", n, parallelReads)
		}
		close(b.hold) // somebody unlocked it at last
		synctest.Wait()
		wantMissing(t, k, "a")
	})
}

func TestChangesKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newMemory()
		b.hold = make(chan struct{})
		k := newKeychain(b, Options{})
		if err := k.Set(nothing, "a", "old"); err == nil {
			t.Fatal("Set answered while the keychain was silent")
		}
		done := make(chan error, 1)
		go func() { done <- k.Set(nothing, "a", "new") }()
		synctest.Wait()
		close(b.hold)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(b.writes, " "); got != "a=old a=new" {
			t.Errorf("writes: %s", got)
		}
	})
}

func TestCancelledCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newMemory()
		b.hold = make(chan struct{})
		defer close(b.hold)
		k := newKeychain(b, Options{})
		ctx, cancel := context.WithTimeout(nothing, time.Second)
		defer cancel()
		for range 2 { // the first waits for the call, the second for its turn
			if err := k.Set(ctx, "a", "x"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Set = %v", err)
			}
		}
	})
}

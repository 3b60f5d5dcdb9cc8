package profile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"sluice/internal/testkit"
)

// child is another engine: "set" sets many profiles, "forever" writes until it is killed.
func child(dir string, args []string) int {
	p := New(Options{Dir: dir, Gateway: &fakeGateway{}, Keychain: &fakeKeychain{entries: map[string]string{}}})
	defer p.Close()
	for i := 0; i < childProfiles || args[0] == "forever"; i++ {
		if _, err := p.Set(nothing, fmt.Sprintf("%s-%d", args[1], i%childProfiles), fmt.Sprintf("https://host-%d", i), nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

const (
	children      = 4
	childProfiles = 20
)

func (w *world) child(args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childVariable+"="+w.dir, "GORACE=atexit_sleep_ms=0")
	complaint := new(bytes.Buffer)
	cmd.Stderr = complaint
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, complaint
}

func TestEnginesThatWriteAtOnceLoseNothing(t *testing.T) {
	w := newWorld(t)
	var running []func()
	for i := range children {
		cmd, complaint := w.child("set", fmt.Sprint("engine-", i))
		running = append(running, func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, complaint)
			}
		})
	}
	for _, wait := range running {
		wait()
	}
	list, err := w.engine().List()
	if err != nil || len(list) != children*childProfiles {
		t.Errorf("%d profiles, %v, want %d", len(list), err, children*childProfiles)
	}
}

func TestEngineThatIsKilledWhileItWrites(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	w.set(p, "first", server)
	for round := range 5 {
		cmd, _ := w.child("forever", fmt.Sprint("engine-", round))
		testkit.Until(t, "the other engine writes", func() bool {
			_, err := p.Resolve(fmt.Sprintf("engine-%d-%d", round, round)) // each is killed a little later
			return err == nil
		})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		begun := time.Now()
		w.set(p, fmt.Sprint("mine-", round), server) // the dead one's lock is free
		t.Logf("the next write took %s", time.Since(begun))
		if found, err := p.Resolve("first"); err != nil || !found.Current {
			t.Errorf("the first profile is %+v, %v", found, err)
		}
	}
	if others := w.others(); len(others) > 0 {
		t.Errorf("left over: %v", others)
	}
}

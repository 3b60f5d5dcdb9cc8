package session

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func init() { children["readonly"] = childInAFolder }

// nobody is a user without rights.
const nobody = 65534

// childInAFolder runs a turn in a folder and prints the warnings.
func childInAFolder(arguments []string) int {
	ctx := context.Background()
	store := New(Options{Dir: arguments[0]})
	s, err := store.Open(ctx, "u", "s", nil)
	if err != nil {
		return fail(err)
	}
	turn := newTurn("hi")
	if err := s.Begin(ctx, turn); err != nil {
		return fail(err)
	}
	if got, err := s.Last(ctx, 0); err != nil || got == nil {
		return fail(fmt.Errorf("got %v, %v", got, err))
	}
	fmt.Println(strings.Join(s.Warnings(), "\n"))
	s.Close()
	if err := store.Close(ctx); err != nil {
		return fail(err)
	}
	return 0
}

// A folder that can't be written: for root every folder can, so the child is another user then.
func TestAReadOnlyFolder(t *testing.T) {
	dir, err := os.MkdirTemp("", "sluice-session-") // t.TempDir is below a folder for root alone
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o500))
	command := exec.Command("/proc/self/exe", dir)
	command.Env = append(os.Environ(), childVariable+"=readonly")
	command.Stderr = os.Stderr
	if os.Getuid() == 0 {
		must(t, os.Chown(dir, nobody, nobody))
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		command.Dir = dir
	}
	out, err := command.Output()
	if err != nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "app.data_dir") || !strings.Contains(string(out), dir) {
		t.Errorf("got %q, %v", out, err)
	}
}

package observe

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runFolder lies in the data folder and holds a file per engine that can be looked at.
const runFolder = "run"

// Running is the content of a run file, <data_dir>/run/<pid>.json.
type Running struct {
	PID     int       `json:"pid"`
	Addr    string    `json:"addr"` // host:port
	Started time.Time `json:"started"`
	Version string    `json:"version"`
}

// runFile tells others on this machine, of the same user, where this process listens.
type runFile struct {
	path string // empty when there is none
}

// write takes away what engines left that were killed, and puts our own file in place in one step.
func (f *runFile) write(dataDir, addr, version string) error {
	folder, err := privateFolder(dataDir, runFolder)
	if err != nil {
		return err
	}
	removeStale(folder)
	text, err := json.Marshal(Running{PID: os.Getpid(), Addr: addr, Started: time.Now().UTC().Truncate(time.Second), Version: version})
	if err != nil {
		return err
	}
	path := filepath.Join(folder, strconv.Itoa(os.Getpid())+".json")
	unfinished := path + ".new"
	if err := os.WriteFile(unfinished, append(text, '\n'), 0o600); err != nil {
		_ = os.Remove(unfinished) // a full disk leaves an empty one
		return err
	}
	if err := os.Rename(unfinished, path); err != nil {
		_ = os.Remove(unfinished)
		return err
	}
	f.path = path
	return nil
}

func (f *runFile) remove() {
	if f.path != "" {
		_ = os.Remove(f.path)
	}
}

// privateFolder makes a folder of the data folder that only its user may enter, both if need be.
func privateFolder(dataDir, name string) (string, error) {
	folder := filepath.Join(dataDir, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	return folder, os.Chmod(folder, 0o700)
}

func removeStale(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), ".")
		pid, err := strconv.Atoi(number)
		if err == nil && !alive(pid) {
			_ = os.Remove(filepath.Join(folder, entry.Name()))
		}
	}
}

// nothing is the signal that only asks whether there is a process (kill(2)). Windows has no such
// signal, but finds only processes that there are.
const nothing = syscall.Signal(0)

// alive reports whether there is a process of this number; one that we may not signal is one.
func alive(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer process.Release()
	return !errors.Is(process.Signal(nothing), os.ErrProcessDone)
}

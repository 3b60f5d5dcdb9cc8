package doctor

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is read of one process and of a walk to its ancestors.
const (
	maxEnviron   = 1 << 20
	maxAncestors = 64
)

// FindOrphans returns the processes of this user that bear a marker and whose engine is gone. Every child
// of an engine has an environment variable of its own whose name begins with prefix, which all that it
// starts inherits (package process). A family has an engine as long as the process above one of its
// members is a program of one of these names. proc is where the kernel shows the processes ("/proc").
func FindOrphans(ctx context.Context, proc, prefix string, engines []string) ([]Process, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, err
	}
	families := map[string][]int{}
	all := &processes{proc: proc, prefix: prefix, known: map[int]*entry{}}
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		for _, marker := range all.get(pid).markers {
			families[marker] = append(families[marker], pid)
		}
	}
	var left []Process
	for marker, members := range families {
		if all.hasEngine(marker, members, engines) {
			continue
		}
		for _, pid := range members {
			left = append(left, Process{pid, all.get(pid).name})
		}
	}
	slices.SortFunc(left, func(a, b Process) int { return a.PID - b.PID })
	return slices.Compact(left), nil
}

// processes are those that were looked at.
type processes struct {
	proc, prefix string
	known        map[int]*entry
}

// entry is a process; without a name it is gone or a zombie.
type entry struct {
	name    string
	parent  int
	markers []string
}

// hasEngine reports whether an engine runs above one of the members.
func (p *processes) hasEngine(marker string, members []int, engines []string) bool {
	for _, pid := range members {
		for range maxAncestors {
			e := p.get(pid)
			if !slices.Contains(e.markers, marker) {
				if p.isEngine(pid, e, engines) {
					return true
				}
				break
			}
			pid = e.parent
		}
	}
	return false
}

// isEngine looks at the program's name. The kernel cuts a command's to 15 bytes, so the executable's
// counts too.
func (p *processes) isEngine(pid int, e *entry, engines []string) bool {
	if slices.Contains(engines, e.name) {
		return true
	}
	link, err := os.Readlink(filepath.Join(p.proc, strconv.Itoa(pid), "exe"))
	return err == nil && slices.Contains(engines, filepath.Base(strings.TrimSuffix(link, " (deleted)")))
}

// get looks a process up (proc(5): /proc/pid/stat, /proc/pid/environ). The environment of others can't
// be read; they have no markers.
func (p *processes) get(pid int) *entry {
	if e := p.known[pid]; e != nil {
		return e
	}
	e := &entry{}
	p.known[pid] = e
	folder := filepath.Join(p.proc, strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return e
	}
	// pid (comm) state ppid …, where comm may hold anything, parentheses too
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return e
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
		return e
	}
	e.name = string(stat[open+1 : end])
	e.parent, _ = strconv.Atoi(fields[1])
	e.markers = readMarkers(filepath.Join(folder, "environ"), p.prefix)
	return e
}

func readMarkers(name, prefix string) (markers []string) {
	file, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxEnviron))
	if err != nil {
		return nil
	}
	for variable := range bytes.SplitSeq(text, []byte{0}) {
		if key, _, found := bytes.Cut(variable, []byte("=")); found && bytes.HasPrefix(key, []byte(prefix)) {
			markers = append(markers, string(key))
		}
	}
	return markers
}

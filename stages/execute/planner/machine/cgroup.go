package machine

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// group is what the control groups of this process allow. 0 is no limit.
type group struct {
	limit uint64 // bytes of memory
	used  uint64 // of these, without what the kernel would give back
	cores int    // rounded up
}

// unlimited is what version 1 shows without a limit: the largest number of whole pages.
const unlimited = math.MaxInt64 / 2

// readGroup reads the limits (Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst)
// from root, the root of the file system. The tightest of a group and those around it counts. What
// can't be read is no limit.
func readGroup(root fs.FS) (g group) {
	if root == nil {
		return g
	}
	list, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return g
	}
	for line := range strings.Lines(string(list)) {
		// hierarchy-ID:controller-list:cgroup-path
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch controllers := "," + fields[1] + ","; {
		case fields[0] == "0" && fields[1] == "":
			g.walk(root, "sys/fs/cgroup", fields[2], version2)
		case strings.Contains(controllers, ",memory,"):
			g.walk(root, "sys/fs/cgroup/memory", fields[2], version1)
		case strings.Contains(controllers, ",cpu,"):
			g.walk(root, "sys/fs/cgroup/cpu", fields[2], version1)
			g.walk(root, "sys/fs/cgroup/"+fields[1], fields[2], version1)
		}
	}
	return g
}

// files names what a version of control groups calls the same things.
type files struct{ limit, usage, inactive, quota, period string }

var (
	version1 = files{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "cpu.cfs_quota_us", "cpu.cfs_period_us"}
	version2 = files{"memory.max", "memory.current", "inactive_file", "cpu.max", ""}
)

// maxNesting bounds the walk towards the root.
const maxNesting = 64

// walk looks at a group and at all around it. In a container the path may be one of the host's, which
// isn't there; then what is mounted is the container's own.
func (g *group) walk(root fs.FS, mount, name string, f files) {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	for range maxNesting {
		folder := path.Join(mount, name)
		g.memory(root, folder, f)
		g.cpu(root, folder, f)
		if name == "" || name == "." {
			return
		}
		name = path.Dir(name)
		if name == "." {
			name = ""
		}
	}
}

func (g *group) memory(root fs.FS, folder string, f files) {
	limit, ok := readNumber(root, path.Join(folder, f.limit))
	if !ok || limit > unlimited {
		return
	}
	used, _ := readNumber(root, path.Join(folder, f.usage))
	used -= min(used, readStat(root, path.Join(folder, "memory.stat"), f.inactive))
	if g.limit == 0 || limit-min(limit, used) < g.limit-min(g.limit, g.used) {
		g.limit, g.used = max(limit, 1), used
	}
}

func (g *group) cpu(root fs.FS, folder string, f files) {
	text, err := fs.ReadFile(root, path.Join(folder, f.quota))
	if err != nil {
		return
	}
	if f.period != "" {
		period, err := fs.ReadFile(root, path.Join(folder, f.period))
		if err != nil {
			return
		}
		text = append(append(text, ' '), period...)
	}
	fields := strings.Fields(string(text))
	if len(fields) != 2 {
		return
	}
	quota, err1 := strconv.ParseInt(fields[0], 10, 64) // "max" and -1 are no limit
	period, err2 := strconv.ParseInt(fields[1], 10, 64)
	if err1 != nil || err2 != nil || quota <= 0 || period <= 0 {
		return
	}
	if cores := int(min((quota-1)/period+1, 1<<20)); g.cores == 0 || cores < g.cores {
		g.cores = cores
	}
}

func readNumber(root fs.FS, name string) (uint64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// readStat returns one number of a memory.stat.
func readStat(root fs.FS, name, key string) uint64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, key+" "); found {
			n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			return n
		}
	}
	return 0
}

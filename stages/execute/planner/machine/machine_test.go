package machine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

func TestParseDevices(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		want   []GPU
		fails  bool
	}{
		"none": {"Available devices:\n  (none)\n", nil, false},
		"two": {"Available devices:\n  CUDA0: NVIDIA GeForce RTX 3090 (24124 MiB, 23837 MiB free)\n  Vulkan1: AMD Radeon (RADV: NAVI31) (16368 MiB, 16000 MiB free)\n",
			[]GPU{{"CUDA0", "NVIDIA GeForce RTX 3090", 24124 << 20, 23837 << 20}, {"Vulkan1", "AMD Radeon (RADV: NAVI31)", 16368 << 20, 16000 << 20}}, false},
		"noise before": {"ggml_cuda_init: found 1 CUDA devices:\n  Device 0: NVIDIA (1 MiB, 1 MiB free)\r\nAvailable devices:\r\n  Metal: Apple M2 (21845 MiB, 21845 MiB free)\r\n",
			[]GPU{{"Metal", "Apple M2", 21845 << 20, 21845 << 20}}, false},
		"no memory of its own":    {"Available devices:\n  BLAS: Accelerate (0 MiB, 0 MiB free)\n  CPU: a CPU (100 MiB, 100 MiB free)\n  BLAS0: x (5 MiB, 5 MiB free)\n", nil, false},
		"more free than there is": {"Available devices:\n  CUDA0: x (100 MiB, 900 MiB free)\n", []GPU{{"CUDA0", "x", 100 << 20, 100 << 20}}, false},
		"no list":                 {"error: unknown argument: --list-devices\n", nil, true},
		"nothing":                 {"", nil, true},
		"endless":                 {"Available devices:\n" + strings.Repeat("  CUDA0: x (9 MiB, 9 MiB free)\n", 1000), slices.Repeat([]GPU{{"CUDA0", "x", 9 << 20, 9 << 20}}, maxGPUs), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseDevices(c.output)
			if (err != nil) != c.fails || !slices.Equal(got, c.want) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func FuzzParseDevices(f *testing.F) {
	f.Add("Available devices:\n  CUDA0: NVIDIA GeForce RTX 3090 (24124 MiB, 23837 MiB free)\n")
	f.Add("Available devices:\n  (none)\n")
	f.Fuzz(func(t *testing.T, output string) {
		gpus, err := ParseDevices(output)
		if err != nil && len(gpus) > 0 || len(gpus) > maxGPUs {
			t.Fatalf("%d GPUs, %v", len(gpus), err)
		}
		for _, g := range gpus {
			if g.Name == "" || g.TotalMemory == 0 || g.FreeMemory > g.TotalMemory {
				t.Fatalf("%+v", g)
			}
		}
	})
}

// files makes a file system of pairs of names and texts.
func filesOf(pairs ...string) fstest.MapFS {
	system := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		system[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return system
}

func TestControlGroups(t *testing.T) {
	for name, c := range map[string]struct {
		system fstest.MapFS
		want   group
	}{
		"none":    {filesOf(), group{}},
		"no file": {filesOf("proc/self/cgroup", "0::/a\n"), group{}},
		"version 2": {filesOf("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "2147483648\n", "sys/fs/cgroup/memory.current", "1000000000\n",
			"sys/fs/cgroup/memory.stat", "anon 5\nfile 400000000\ninactive_file 300000000\n", "sys/fs/cgroup/cpu.max", "150000 100000\n"), group{2147483648, 700000000, 2}},
		"no limit": {filesOf("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "max\n", "sys/fs/cgroup/cpu.max", "max 100000\n"), group{}},
		"the parent is tighter": {filesOf("proc/self/cgroup", "0::/a.slice/b.service\n", "sys/fs/cgroup/a.slice/memory.max", "1000\n", "sys/fs/cgroup/a.slice/memory.current", "400\n",
			"sys/fs/cgroup/a.slice/b.service/memory.max", "5000\n", "sys/fs/cgroup/a.slice/b.service/memory.current", "300\n",
			"sys/fs/cgroup/a.slice/cpu.max", "50000 100000\n"), group{1000, 400, 1}},
		"version 1": {filesOf("proc/self/cgroup", "11:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n0::/\n", "sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "1000\n",
			"sys/fs/cgroup/memory/docker/x/memory.usage_in_bytes", "900\n", "sys/fs/cgroup/memory/docker/x/memory.stat", "total_inactive_file 100\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n",
			"sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "400000\n", "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n"), group{1000, 800, 4}},
		"the path is the host's": {filesOf("proc/self/cgroup", "11:memory:/docker/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes", "77\n"), group{77, 0, 0}},
		"nonsense":               {filesOf("proc/self/cgroup", "\x00:\n::\n0::/../../../etc\n", "sys/fs/cgroup/etc/memory.max", "-4\n", "sys/fs/cgroup/cpu.max", "0 0\n"), group{}},
		"a limit of nothing":     {filesOf("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "0\n"), group{limit: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := readGroup(c.system); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// fixed is a machine of 64 GiB, 60 of them available.
func fixed(context.Context) (Memory, error) { return Memory{64 << 30, 60 << 30}, nil }

func TestMachineIsLookedAtOnce(t *testing.T) {
	asked, available := 0, uint64(60<<30)
	p := New(Options{
		ListDevices: func(ctx context.Context) (string, error) {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("the server is asked without a limit")
			}
			asked++
			return "Available devices:\n  CUDA0: x (100 MiB, 90 MiB free)\n", nil
		},
		Memory: func(context.Context) (Memory, error) { return Memory{64 << 30, available}, nil },
		System: filesOf("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "34359738368\n", "sys/fs/cgroup/memory.current", "1073741824\n", "sys/fs/cgroup/cpu.max", "100000 100000\n"),
	})
	first, _, err := p.Look(t.Context(), 0)
	if err != nil || len(first.GPUs) != 1 || first.Cores != 1 || first.MemoryLimit != 32<<30 || first.TotalMemory != 32<<30 || first.AvailableMemory != 31<<30 {
		t.Errorf("%+v, %v", first, err)
	}
	available = 5 << 30
	second, _, err := p.Look(t.Context(), 1<<30)
	if err != nil || second.AvailableMemory != 6<<30 || asked != 1 {
		t.Errorf("%+v, %v, asked %d times", second, err, asked)
	}
}

// TestInterruptedLook: what a request that was cancelled saw isn't kept.
func TestInterruptedLook(t *testing.T) {
	p := New(Options{Memory: fixed, ListDevices: func(ctx context.Context) (string, error) {
		return "Available devices:\n  CUDA0: x (100 MiB, 90 MiB free)\n", ctx.Err()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Look(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if hw, _, err := p.Look(t.Context(), 0); err != nil || len(hw.GPUs) != 1 {
		t.Errorf("%+v, %v", hw, err)
	}
}

// TestWaitingForALook: whoever waits for another one's look at the machine can give up.
func TestWaitingForALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		p := New(Options{Memory: fixed, ListDevices: func(context.Context) (string, error) {
			<-answer
			return "Available devices:\n  (none)\n", nil
		}})
		first := make(chan error, 1)
		go func() {
			_, _, err := p.Look(t.Context(), 0)
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := p.Look(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		close(answer)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// TestThisMachine asks the operating system.
func TestThisMachine(t *testing.T) {
	hw, warning, err := New(Options{}).Look(t.Context(), 0)
	if err != nil || warning != "" || hw.TotalMemory < 64<<20 || hw.AvailableMemory == 0 || hw.AvailableMemory > hw.TotalMemory || hw.Cores < 1 || hw.GPUs == nil {
		t.Errorf("%+v, %q, %v", hw, warning, err)
	}
}

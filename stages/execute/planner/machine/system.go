package machine

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
)

// listTimeout bounds `llama-server --list-devices`, which loads the drivers of all GPUs.
const listTimeout = 10 * time.Second

// Memory is the host's memory in bytes.
type Memory struct{ Total, Available uint64 }

// readMemory asks the operating system.
func readMemory(ctx context.Context) (Memory, error) {
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return Memory{}, fmt.Errorf("the machine's memory can't be read: %w", err)
	}
	return Memory{m.Total, m.Available}, nil
}

// system is the root of the file system in which control groups are looked for; nil where there are none.
func system() fs.FS {
	if runtime.GOOS != "linux" {
		return nil
	}
	return os.DirFS("/")
}

// Repack says for what kind of processor llama-server copies matrices into another order as it loads
// them (--repack, the default).
type Repack string

// The kinds of processors.
const (
	RepackNone Repack = ""
	RepackAVX2 Repack = "avx2"
	RepackNEON Repack = "neon"
	RepackAMX  Repack = "amx"
)

// readCores returns the number of physical cores, and what llama-server rearranges matrices for.
func readCores(ctx context.Context) (int, Repack) {
	cores, err := cpu.CountsWithContext(ctx, false)
	if err != nil || cores < 1 {
		cores = runtime.NumCPU()
	}
	// A machine may have more cores than this process may use.
	cores = min(cores, runtime.NumCPU())
	if runtime.GOARCH == "arm64" {
		return cores, RepackNEON
	}
	infos, err := cpu.InfoWithContext(ctx)
	if err != nil || len(infos) == 0 {
		return cores, RepackNone
	}
	switch flags := infos[0].Flags; {
	case slices.Contains(flags, "amx_int8"):
		return cores, RepackAMX
	case slices.Contains(flags, "avx2"):
		return cores, RepackAVX2
	}
	return cores, RepackNone
}

package machine

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Hardware is what a plan may use. Memory is in bytes.
type Hardware struct {
	// TotalMemory and AvailableMemory are the host's, or less where a control group (a container) sets a
	// limit.
	TotalMemory     uint64 `json:"total_memory"`
	AvailableMemory uint64 `json:"available_memory"`
	// MemoryLimit is the control group's; 0 without one.
	MemoryLimit uint64 `json:"memory_limit"`
	// Cores are physical ones, or less where a control group limits them.
	Cores int   `json:"cores"`
	GPUs  []GPU `json:"gpus"`

	// Repack says for what kind of processor llama-server rearranges matrices.
	Repack Repack `json:"-"`
}

// GPU is a device as llama-server names it.
type GPU struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	TotalMemory uint64 `json:"total_memory"`
	// FreeMemory is what was free when the engine looked first.
	FreeMemory uint64 `json:"free_memory"`
}

// Margin is what a plan leaves free of memory that others use too: a sixteenth, at least 256 MiB.
func Margin(total uint64) uint64 { return max(total/16, 256<<20) }

// Budget is what a plan may use of the host's memory.
func (h *Hardware) Budget() uint64 {
	return h.AvailableMemory - min(h.AvailableMemory, Margin(h.TotalMemory))
}

// Budget is what a plan may use of a GPU's memory.
func (g GPU) Budget() uint64 { return g.FreeMemory - min(g.FreeMemory, Margin(g.TotalMemory)) }

// Unified reports whether the GPU uses the host's memory.
func (g GPU) Unified() bool {
	return strings.HasPrefix(g.Name, "Metal") || strings.HasPrefix(g.Name, "MTL")
}

// Fractions are the bounds of the GPUs' shares, as llama.cpp splits by default: by free memory.
func (h *Hardware) Fractions() []float64 {
	sum, bounds := 0.0, make([]float64, len(h.GPUs))
	for i, g := range h.GPUs {
		sum += float64(g.FreeMemory)
		bounds[i] = sum
	}
	for i := range bounds {
		if sum == 0 {
			bounds[i] = float64(i+1) / float64(len(bounds))
			continue
		}
		bounds[i] /= sum
	}
	bounds[len(bounds)-1] = 1
	return bounds
}

// deviceLine is a line of `llama-server --list-devices` (llama.cpp, common/arg.cpp): two spaces, name,
// description, and memory in MiB. A description may hold anything, parentheses and colons too.
var deviceLine = regexp.MustCompile(`^\s+([^\s:]+): (.*) \((\d{1,9}) MiB, (\d{1,9}) MiB free\)\s*$`)

// maxGPUs is llama.cpp's own bound on devices (LLAMA_MAX_DEVICES, 16).
const maxGPUs = 16

// ParseDevices reads the output of `llama-server --list-devices`. The BLAS and CPU entries of some
// builds have no memory of their own and are left out. The error says that it isn't such an output.
func ParseDevices(output string) ([]GPU, error) {
	_, list, found := strings.Cut(output, "Available devices:")
	if !found {
		return nil, fmt.Errorf("it didn't print \"Available devices:\"")
	}
	gpus := []GPU{}
	for line := range strings.Lines(list) {
		match := deviceLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if match == nil || len(gpus) == maxGPUs {
			continue
		}
		total, _ := strconv.ParseUint(match[3], 10, 64) // nine digits at most
		free, _ := strconv.ParseUint(match[4], 10, 64)
		if total == 0 || match[1] == "CPU" || strings.HasPrefix(match[1], "BLAS") {
			continue
		}
		gpus = append(gpus, GPU{match[1], strings.TrimSpace(match[2]), total << 20, min(free, total) << 20})
	}
	return gpus, nil
}

// listDevices asks the server for its GPUs; a warning says why there is no answer.
func listDevices(ctx context.Context, list func(context.Context) (string, error)) (gpus []GPU, warning string) {
	if list == nil {
		return []GPU{}, ""
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	output, err := list(ctx)
	if err == nil {
		gpus, err = ParseDevices(output)
	}
	if err != nil {
		return []GPU{}, fmt.Sprintf("llama-server could not be asked for GPUs (%v); the plan is made without any", err)
	}
	return gpus, ""
}

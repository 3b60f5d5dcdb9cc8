package machine

import (
	"context"
	"io/fs"
)

// Options says where facts come from; the zero value asks this machine, which then has no GPU.
type Options struct {
	// ListDevices runs `llama-server --list-devices` and returns what it printed on stdout. It must end
	// with its context. Nil: there are no GPUs.
	ListDevices func(context.Context) (string, error)
	// Memory returns the machine's memory. Nil asks the operating system.
	Memory func(context.Context) (Memory, error)
	// System is the root of the file system with the control groups. Nil: this machine's.
	System fs.FS
}

// Machine is this machine. Its methods may be called from any goroutine.
type Machine struct {
	options Options

	looking chan struct{} // holds one token while the machine is looked at, which guards what follows
	fixed   *Hardware     // what doesn't change; set by the first look that could ask
	warning string        // why there are no GPUs in fixed
}

// New returns a Machine, at which nothing looks yet.
func New(o Options) *Machine {
	if o.Memory == nil {
		o.Memory = readMemory
	}
	if o.System == nil {
		o.System = system()
	}
	return &Machine{options: o, looking: make(chan struct{}, 1)}
}

// Look returns what this machine has now, held bytes of its memory being given back, and why there may be
// more GPUs than it tells. The error is the cause of ctx, or that the memory can't be read.
func (m *Machine) Look(ctx context.Context, held uint64) (*Hardware, string, error) {
	fixed, warning, err := m.fixedFacts(ctx)
	if err != nil {
		return nil, "", err
	}
	memory, err := m.options.Memory(ctx)
	if err != nil {
		return nil, "", err
	}
	h := *fixed
	h.TotalMemory, h.AvailableMemory = memory.Total, memory.Available
	if g := readGroup(m.options.System); g.limit > 0 && g.limit < memory.Total {
		h.MemoryLimit, h.TotalMemory = g.limit, g.limit
		h.AvailableMemory = min(h.AvailableMemory, g.limit-min(g.limit, g.used))
	}
	h.AvailableMemory = min(h.AvailableMemory+held, h.TotalMemory)
	return &h, warning, nil
}

// fixedFacts returns what doesn't change, looking once. A look that its context cut short isn't kept.
func (m *Machine) fixedFacts(ctx context.Context) (*Hardware, string, error) {
	select {
	case m.looking <- struct{}{}:
		defer func() { <-m.looking }()
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
	if m.fixed != nil {
		return m.fixed, m.warning, nil
	}
	h := &Hardware{}
	h.Cores, h.Repack = readCores(ctx)
	if g := readGroup(m.options.System); g.cores > 0 {
		h.Cores = min(h.Cores, g.cores)
	}
	var warning string
	h.GPUs, warning = listDevices(ctx, m.options.ListDevices)
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	m.fixed, m.warning = h, warning
	return h, warning, nil
}

package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
)

// sinksPackage is the program that brings lines through one sink alone.
const sinksPackage = "sluice/bench/peers/sinks"

// sinkWorkload is W6: the sink alone, beside a bare mutex with two buffers that swap.
func sinkWorkload(sizes Sizes, producers int) Workload {
	w := Workload{
		ID:    fmt.Sprintf("W6/%d", producers),
		Title: fmt.Sprintf("%d lines of %d producers through the sink alone to a pipe", sizes.Lines, producers),
		Round: func(ctx context.Context, b *Bench) ([]Row, error) { return sinkRound(ctx, b, sizes, producers) },
	}
	if producers == 8 {
		for _, sink := range []string{"coalesce", "drop"} {
			w.Goals = append(w.Goals, Goal{sink, "of_mutex", 0.7, true}, Goal{sink, "allocations/line", 0.01, false}, Goal{sink, "lost_lines", 0, false})
		}
	}
	return w
}

func sinkRound(ctx context.Context, b *Bench, sizes Sizes, producers int) (rows []Row, err error) {
	bare, err := b.runSink(ctx, "mutex", producers, sizes.Lines)
	if err != nil {
		return nil, err
	}
	rows = append(rows, bare.row("mutex", bare))
	for _, name := range []string{"coalesce", "drop"} {
		run, err := b.runSink(ctx, name, producers, sizes.Lines)
		if err != nil {
			return nil, err
		}
		rows = append(rows, run.row(name, bare))
	}
	return rows, nil
}

// sinkRun is what the program tells in its last line, and how many lines came before that.
type sinkRun struct {
	Lines       float64 `json:"lines"` // that producers handed over
	Merged      float64 `json:"merged"`
	Seconds     float64 `json:"seconds"`
	Allocations float64 `json:"allocations"`
	CPU         float64 `json:"cpu_us"`
	arrived     float64 // those merged into others included
}

func (r *sinkRun) row(name string, bare *sinkRun) Row {
	return Row{name, []Metric{
		{"lines/s", r.arrived / r.Seconds},
		{"of_mutex", (r.arrived / r.Seconds) / (bare.arrived / bare.Seconds)},
		{"us/line", r.CPU / r.Lines},
		{"allocations/line", r.Allocations / r.Lines},
		{"lost_lines", r.Lines - r.arrived},
	}}
}

func (b *Bench) runSink(ctx context.Context, name string, producers, lines int) (*sinkRun, error) {
	program, err := b.sinksProgram(ctx)
	if err != nil {
		return nil, err
	}
	output := &sinkOutput{ended: make(chan struct{})}
	p, err := b.Start(ctx, output, program, "-sink", name, "-producers", strconv.Itoa(producers), "-lines", strconv.Itoa(lines))
	if err != nil {
		return nil, err
	}
	defer p.Kill()
	if err := p.Await(ctx, output.ended); err != nil {
		return nil, fmt.Errorf("sink %s: %w", name, err)
	}
	run := &sinkRun{}
	if err := json.Unmarshal(output.told, run); err != nil {
		return nil, fmt.Errorf("sink %s tells %.200q: %w", name, output.told, err)
	}
	run.arrived = float64(output.lines) + run.Merged
	return run, p.Close()
}

// sinksProgram builds the program once; like the copier's compiler, Go's has to be there.
func (b *Bench) sinksProgram(ctx context.Context) (string, error) {
	if b.sinks != "" {
		return b.sinks, nil
	}
	program := filepath.Join(b.Folder(), "sinks")
	output, err := exec.CommandContext(ctx, "go", "build", "-o", program, sinksPackage).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s, which has to happen below bench/: %w: %s", sinksPackage, err, output)
	}
	b.sinks = program
	return program, nil
}

// toldStart is how the last line begins.
var toldStart = []byte(`{"type":"result"`)

// sinkOutput counts lines as cheaply as possible, since the reader is no part of what is measured.
// Its fields may be read once ended is closed.
type sinkOutput struct {
	lines int
	told  []byte
	ended chan struct{}
}

// ReadLines takes whole lines.
func (o *sinkOutput) ReadLines(block []byte, _ int64) {
	o.lines += bytes.Count(block, []byte{'\n'})
	last := block[bytes.LastIndexByte(block[:len(block)-1], '\n')+1:]
	if bytes.HasPrefix(last, toldStart) {
		o.lines--
		o.told = bytes.Clone(last)
		close(o.ended)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
)

// producers hand lines to a sink at once.
const producers = 8

// sinksAlone is W6: lines of 8 producers through each sink to a pipe.
func sinksAlone(ctx context.Context, b *bench) error {
	for _, row := range sinkRows {
		if err := b.runSink(ctx, row); err != nil {
			return fmt.Errorf("%s: %w", row.sink, err)
		}
	}
	return nil
}

func (b *bench) runSink(ctx context.Context, row sinkRow) error {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	counter := &lineCounter{done: make(chan struct{})}
	p, err := b.session.Start(ctx, counter, filepath.Join(b.programs, "sinks"),
		"-sink", row.sink, "-producers", strconv.Itoa(producers), "-lines", strconv.Itoa(b.sizes.lines))
	if err != nil {
		return err
	}
	defer p.Kill()
	if err := p.Await(ctx, counter.done); err != nil {
		return err
	}
	if err := p.Close(); err != nil {
		return err
	}
	var told struct {
		Lines       float64 `json:"lines"`
		Merged      float64 `json:"merged"`
		Seconds     float64 `json:"seconds"`
		Allocations float64 `json:"allocations"`
		CPU         float64 `json:"cpu_us"`
	}
	if err := json.Unmarshal(counter.last, &told); err != nil {
		return fmt.Errorf("its figures %.200q: %w", counter.last, err)
	}
	arrived := float64(counter.lines) + told.Merged
	b.figures.add("W6", row.name, map[string]float64{
		lines: arrived / told.Seconds, cpu: told.CPU / told.Lines,
		lost: 1 - arrived/told.Lines, allocations: told.Allocations / told.Lines,
	})
	return nil
}

// figuresStart is how the line behind all others begins.
var figuresStart = []byte(`{"type":"result"`)

// lineCounter counts lines as cheaply as possible, since the reader is no part of what is measured,
// and keeps the one that tells the figures. It is fed by one goroutine; its fields may be read once
// done is closed.
type lineCounter struct {
	lines int
	last  []byte
	done  chan struct{}
}

// ReadLines takes whole lines.
func (c *lineCounter) ReadLines(block []byte, _ int64) {
	c.lines += bytes.Count(block, []byte("\n"))
	last := block[bytes.LastIndexByte(block[:len(block)-1], '\n')+1:]
	if bytes.HasPrefix(last, figuresStart) {
		c.lines--
		c.last = bytes.Clone(last)
		close(c.done)
	}
}

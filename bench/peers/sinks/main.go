// Command sinks is workload W6: the ways to bring lines of many producers to stdout, alone.
//
//	sinks -sink mutex -producers 8 -lines 4000000
//
// Every producer is a goroutine; a sink says which others it has, and its close waits for them. Lines
// are like the engine's, 70 to 120 bytes long. Behind them comes one line that tells the figures.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sink takes lines on behalf of producers.
type sink interface {
	// producer returns the function that takes the lines of a producer. It may block, and borrows
	// the line until it returns.
	producer(index int) func(line line)
	// waiting tells how many bytes wait where nothing bounds them, else 0.
	waiting() int64
	// close writes everything that waits and returns how many lines were merged into others.
	close() (merged int64, err error)
}

var sinks = map[string]func(io.Writer) sink{
	"mutex":    newSwapping,
	"channel":  newChannel,
	"zap":      newZap,
	"diode":    newDiode,
	"direct":   newDirect,
	"coalesce": newCoalesce,
	"drop":     newDrop,
}

// figures are what a run came to.
type figures struct {
	Type        string  `json:"type"`        // "result"
	Lines       int64   `json:"lines"`       // that producers handed over
	Merged      int64   `json:"merged"`      // of them, into others
	Seconds     float64 `json:"seconds"`     // until the last was written
	Allocations uint64  `json:"allocations"` // in that time
	CPU         float64 `json:"cpu_us"`      // in that time, user and system
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sinks:", err)
		os.Exit(1)
	}
}

func run(arguments []string, output io.Writer) error {
	flags := flag.NewFlagSet("sinks", flag.ContinueOnError)
	name := flags.String("sink", "", "the sink's `name`: "+strings.Join(names(), ", "))
	producers := flags.Int("producers", 8, "`number` of producers")
	lines := flags.Int("lines", 4_000_000, "`number` of lines in all")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	open := sinks[*name]
	if open == nil || *producers < 1 || *lines < 1 {
		return fmt.Errorf("no sink %q, %d producers or %d lines; sinks are %s", *name, *producers, *lines, strings.Join(names(), ", "))
	}
	result, err := measure(open(output), *producers, *lines)
	if err != nil {
		return err
	}
	return json.NewEncoder(output).Encode(result)
}

func names() []string {
	var all []string
	for name := range sinks {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func measure(s sink, producers, lines int) (figures, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpuBefore, err := cpuTime()
	if err != nil {
		return figures{}, err
	}
	begun := time.Now()
	produceAll(s, producers, lines)
	merged, err := s.close()
	elapsed := time.Since(begun)
	if err != nil {
		return figures{}, err
	}
	cpuAfter, err := cpuTime()
	runtime.ReadMemStats(&after)
	return figures{
		Type: "result", Lines: int64(lines), Merged: merged, Seconds: elapsed.Seconds(),
		Allocations: after.Mallocs - before.Mallocs, CPU: float64((cpuAfter - cpuBefore).Microseconds()),
	}, err
}

// cpuTime returns the process's user and system time.
func cpuTime() (time.Duration, error) {
	var usage unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), err
}

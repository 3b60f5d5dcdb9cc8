// Package guard tells whether an engine has become slower than a committed baseline, on machines
// whose speed nobody controls.
//
// Every figure is a ratio to a calibration peer, or to the engine's own fast reader, that ran just
// before or after it. The ratios of all rounds are compared with those of the baseline. What looks
// worse is measured a second time, twice as long, and has regressed only when it does so beyond doubt.
//
// Run works in the goroutine that calls it, one program after another, and ends all that it started.
package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Options tell what is guarded. Engine, LoadServer, Peer and Baseline are needed.
type Options struct {
	Engine     string   // path of the engine
	LoadServer []string // a program, by its path, and arguments with which it runs load.ServeUntilEnd
	Peer       []string // a program, by its path, and arguments after which RunPeer's are added
	Baseline   string   // path of the baseline

	Update   bool   // write the baseline instead of comparing with it; messages name it UpdateFlag
	Sessions int    // measurements of a new baseline; 0 is 4
	Rounds   int    // of a measurement; 0 is those of the baseline, or 20
	Sizes    Sizes  // of a new baseline; otherwise the baseline's own are taken
	Record   string // where the run is written when the baseline doesn't know the machine; empty is DefaultRecord
	Results  string // where the run is written in Go's benchmark format; empty writes none
	Summary  string // file to which a summary in Markdown is appended; empty writes none

	Output   io.Writer             // for the table and the verdict; nil discards
	Progress func(Progress)        // called before each round, by the caller's goroutine; may be nil
	machine  func() Machine        // nil is ThisMachine
	open     func() (meter, error) // nil opens a session
}

// UpdateFlag is the flag of sluice bench that sets Update.
const UpdateFlag = "guard-update"

// DefaultRecord is where a run on a machine that the baseline doesn't know is written.
const DefaultRecord = "bench-guard-record.json"

const (
	defaultSessions = 4
	defaultRounds   = 20
	again           = 2 // times the rounds, where something looked worse
)

// Progress tells how far a run is.
type Progress struct {
	Session, Sessions int // counted from 1; one that measures again is one more than all
	Round, Rounds     int // counted from 1
}

// Verdict is what a run came to.
type Verdict struct {
	Machine     Machine
	Findings    []Finding // empty when the baseline was written or doesn't know the machine
	Medians     []Median  // what was measured then
	Regressed   bool
	Interrupted bool   // the findings are those of the rounds before the interrupt
	Written     string // path of the baseline, when it was written
	Recorded    string // path of the record, when the baseline doesn't know the machine
}

// Run measures the engine and compares it with the baseline, or writes that. An interrupted run
// tells what it has and returns no error. Errors that a person has to mend are of type *UsageError.
func Run(ctx context.Context, options Options) (Verdict, error) {
	g, err := newGuarding(options)
	if err != nil {
		return Verdict{}, err
	}
	open := g.options.open
	if open == nil {
		open = func() (meter, error) { return openSession(ctx, g.options) }
	}
	if g.meter, err = open(); err != nil {
		return Verdict{}, err
	}
	if g.options.Update {
		err = g.update(ctx)
	} else {
		err = g.compare(ctx)
	}
	if err != nil {
		awaitInterrupt(ctx)
	}
	err = errors.Join(err, g.meter.Close())
	if ctx.Err() != nil { // whatever else went wrong then came of it
		g.verdict.Interrupted, g.verdict.Regressed, err = true, false, nil
	}
	return g.verdict, errors.Join(err, g.report())
}

// interruptGrace is how long an error may come before the interrupt that caused it: a terminal sends
// Ctrl-C to the engine too.
const interruptGrace = 300 * time.Millisecond

func awaitInterrupt(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, interruptGrace)
	defer cancel()
	<-ctx.Done()
}

// meter measures one round of some groups of figures.
type meter interface {
	Round(ctx context.Context, groups []string, round int, sizes Sizes) ([]Reading, error)
	Close() error
}

// guarding is one call of Run.
type guarding struct {
	options  Options
	baseline *Baseline
	entry    *Entry // of this machine; nil where the baseline has none
	meter    meter
	taken    Entry     // what was measured
	readings []Reading // all of it
	verdict  Verdict
}

func newGuarding(options Options) (*guarding, error) {
	if options.Output == nil {
		options.Output = io.Discard
	}
	if options.machine == nil {
		options.machine = ThisMachine
	}
	baseline, err := options.readBaseline()
	if err != nil {
		return nil, err
	}
	g := &guarding{options: options, baseline: baseline}
	g.verdict.Machine = options.machine()
	g.entry = baseline.Entry(g.verdict.Machine)
	g.taken = Entry{Machine: g.verdict.Machine, Sizes: options.Sizes.withDefaults(), Rounds: cmp.Or(options.Rounds, defaultRounds)}
	if g.entry != nil && !options.Update {
		g.taken.Sizes = g.entry.Sizes
		g.taken.Rounds = cmp.Or(options.Rounds, g.entry.Rounds)
	}
	return g, g.checkPaths()
}

// update writes this machine's part of the baseline.
func (g *guarding) update(ctx context.Context) error {
	err := g.sessions(ctx)
	g.verdict.Medians = medians(g.taken)
	if err != nil {
		return err
	}
	g.baseline.Put(g.taken)
	if err := g.baseline.Write(g.options.Baseline); err != nil {
		return err
	}
	g.verdict.Written = g.options.Baseline
	return nil
}

// sessions measures several times, since the spread of sessions tells how far an unchanged engine moves.
func (g *guarding) sessions(ctx context.Context) error {
	count := cmp.Or(g.options.Sessions, defaultSessions)
	for number := range count {
		if err := g.session(ctx, Groups, number+1, count, g.taken.Rounds); err != nil {
			return err
		}
	}
	return nil
}

func (g *guarding) compare(ctx context.Context) error {
	err := g.session(ctx, Groups, 1, 1, g.taken.Rounds)
	if g.entry == nil {
		g.verdict.Medians = medians(g.taken)
		if err == nil {
			err = g.record()
		}
		return err
	}
	g.verdict.Findings = compareAll(*g.entry, g.taken.Sessions[0])
	suspects := suspects(g.verdict.Findings)
	if err != nil || len(suspects) == 0 {
		return err
	}
	if err := g.session(ctx, suspects, 2, 1, again*g.taken.Rounds); err != nil {
		return err
	}
	confirm(g.verdict.Findings, compareAll(*g.entry, g.taken.Sessions[1]))
	g.verdict.Regressed = slices.ContainsFunc(g.verdict.Findings, func(f Finding) bool { return f.Again && f.Regressed })
	return nil
}

// session measures all rounds of some groups. What was measured before an error stays.
func (g *guarding) session(ctx context.Context, groups []string, number, of, rounds int) error {
	ratios := Session{}
	g.taken.Sessions = append(g.taken.Sessions, ratios)
	for round := range rounds {
		if g.options.Progress != nil {
			g.options.Progress(Progress{number, of, round + 1, rounds})
		}
		readings, err := g.meter.Round(ctx, groups, round, g.taken.Sizes)
		for _, r := range readings {
			ratios[r.Figure] = append(ratios[r.Figure], r.Ratio)
		}
		g.readings = append(g.readings, readings...)
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	return nil
}

// record writes what was measured on a machine that the baseline doesn't know, as a baseline.
func (g *guarding) record() error {
	path := cmp.Or(g.options.Record, DefaultRecord)
	var record Baseline
	record.Put(g.taken)
	if err := record.Write(path); err != nil {
		return err
	}
	g.verdict.Recorded = path
	return nil
}

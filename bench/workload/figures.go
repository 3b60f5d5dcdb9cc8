package workload

import (
	"context"
	"fmt"
	"slices"
)

// Metric is one measured value.
type Metric struct {
	Name  string
	Value float64
}

// Row holds what one program came to in one round.
type Row struct {
	Program string
	Metrics []Metric
}

// Goal is a bound for the median of a metric in a workload.
type Goal struct {
	Program string
	Metric  string
	Bound   float64
	AtLeast bool // else at most
}

// Workload is one line of work that the engine and its peers go through, interleaved.
type Workload struct {
	ID    string
	Title string
	Goals []Goal
	Round func(context.Context, *Bench) ([]Row, error)
}

// Series holds the values of one metric over all rounds, in the order of the rounds.
type Series struct {
	Name   string    `json:"name"`
	Median float64   `json:"median"`
	Values []float64 `json:"values"`
}

// ProgramResult holds the metrics of one program.
type ProgramResult struct {
	Program string    `json:"program"`
	Metrics []*Series `json:"metrics"`
}

// GoalResult tells whether a goal was met.
type GoalResult struct {
	Program string  `json:"program"`
	Metric  string  `json:"metric"`
	Bound   float64 `json:"bound"`
	AtLeast bool    `json:"at_least"`
	Median  float64 `json:"median"`
	Met     bool    `json:"met"`
}

// Result is what a workload came to.
type Result struct {
	Workload string           `json:"workload"`
	Title    string           `json:"title"`
	Rounds   int              `json:"rounds"`
	Programs []*ProgramResult `json:"programs"`
	Goals    []GoalResult     `json:"goals"`
}

// Run goes through all rounds of a workload; progress is told before each and may be nil. With an
// error it returns what the rounds before came to, or nil where there were none.
func (w Workload) Run(ctx context.Context, b *Bench, rounds int, progress func(round int)) (*Result, error) {
	result := &Result{Workload: w.ID, Title: w.Title, Goals: []GoalResult{}}
	for round := range rounds {
		if progress != nil {
			progress(round)
		}
		rows, err := w.Round(ctx, b)
		if err != nil {
			return result.concluded(w.Goals), fmt.Errorf("%s, round %d: %w", w.ID, round+1, err)
		}
		result.Rounds++
		for _, row := range rows {
			result.add(row)
		}
	}
	return result.concluded(w.Goals), nil
}

func (r *Result) add(row Row) {
	at := slices.IndexFunc(r.Programs, func(p *ProgramResult) bool { return p.Program == row.Program })
	if at < 0 {
		at = len(r.Programs)
		r.Programs = append(r.Programs, &ProgramResult{Program: row.Program})
	}
	for _, metric := range row.Metrics {
		r.Programs[at].add(metric)
	}
}

func (p *ProgramResult) add(metric Metric) {
	at := slices.IndexFunc(p.Metrics, func(s *Series) bool { return s.Name == metric.Name })
	if at < 0 {
		at = len(p.Metrics)
		p.Metrics = append(p.Metrics, &Series{Name: metric.Name})
	}
	p.Metrics[at].Values = append(p.Metrics[at].Values, metric.Value)
}

// concluded returns the result with its medians and goals, or nil when there was no round.
func (r *Result) concluded(goals []Goal) *Result {
	if r.Rounds == 0 {
		return nil
	}
	for _, program := range r.Programs {
		for _, series := range program.Metrics {
			series.Median = median(series.Values)
		}
	}
	for _, goal := range goals {
		value := r.Median(goal.Program, goal.Metric)
		met := value <= goal.Bound
		if goal.AtLeast {
			met = value >= goal.Bound
		}
		r.Goals = append(r.Goals, GoalResult{goal.Program, goal.Metric, goal.Bound, goal.AtLeast, value, met})
	}
	return r
}

// Median returns the median of a program's metric, and panics when there is none: the names are
// those of the workload's own rows.
func (r *Result) Median(program, metric string) float64 {
	for _, p := range r.Programs {
		for _, series := range p.Metrics {
			if p.Program == program && series.Name == metric {
				return series.Median
			}
		}
	}
	panic("workload " + r.Workload + " has no " + metric + " of " + program)
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

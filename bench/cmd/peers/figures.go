package main

import "slices"

// figures hold the values of all rounds, by workload, program and metric.
type figures struct {
	programs []*program // in the order in which they were first measured
}

type program struct {
	workload, name string
	values         map[string][]float64
}

// add enters what a program came to in one round.
func (f *figures) add(workload, name string, metrics map[string]float64) {
	at := slices.IndexFunc(f.programs, func(p *program) bool { return p.workload == workload && p.name == name })
	if at < 0 {
		at = len(f.programs)
		f.programs = append(f.programs, &program{workload, name, map[string][]float64{}})
	}
	for metric, value := range metrics {
		f.programs[at].values[metric] = append(f.programs[at].values[metric], value)
	}
}

// of returns the programs of a workload.
func (f *figures) of(workload string) (programs []*program) {
	for _, p := range f.programs {
		if p.workload == workload {
			programs = append(programs, p)
		}
	}
	return programs
}

// median returns the middle value, or the mean of the two in the middle; 0 of none.
func (p *program) median(metric string) float64 {
	sorted := slices.Sorted(slices.Values(p.values[metric]))
	if len(sorted) == 0 {
		return 0
	}
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

package guard

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

const (
	// worse is by how much the median of a figure has to be worse to be a regression.
	worse = 0.10
	// leastMargin is what the confidence interval of a change has to lie beyond at least.
	leastMargin = 0.05
	// spreads is how many times the spread of the baseline's sessions a change has to lie beyond: an
	// unchanged engine differs from session to session by more than the rounds of one session tell.
	spreads = 2
	// alpha is the probability at which the Mann-Whitney U test takes two samples for different.
	alpha = 0.01
	// confidence of the interval of each median.
	confidence = 0.95
)

// LeastRounds is how many rounds it takes for a median to have such an interval at all.
const LeastRounds = 6

// Finding is how a figure moved. Changes are relative: 0.3 is 30 % more, which is worse.
type Finding struct {
	Figure            string
	Rounds            int
	Baseline, Current float64 // medians
	Change            float64
	// Low and High are the bounds of the change: those of the interval of the current median against
	// those of the baseline's, each at 95 %; both hold together in at least nine of ten cases.
	// Of too few rounds they are -1 and +Inf.
	Low, High float64
	P         float64 // of the Mann-Whitney U test
	Margin    float64 // which the change has to lie beyond
	Suspect   bool    // the change is significant and large enough, but perhaps not certain enough
	Regressed bool    // a suspect whose interval lies beyond the margin
	Improved  bool
	Again     bool // it was a suspect of the first measurement, and this is the second
}

// compareAll compares a session with a baseline, figure by figure. Figures that only one of them
// has are left out.
func compareAll(entry Entry, session Session) []Finding {
	var findings []Finding
	for _, figure := range Figures {
		baseline := ratiosOf(entry, figure)
		if len(baseline) > 0 && len(session[figure]) > 0 {
			findings = append(findings, compareFigure(figure, baseline, session[figure]))
		}
	}
	return findings
}

// ratiosOf returns a figure's ratios of each session that has any.
func ratiosOf(entry Entry, figure string) (ratios [][]float64) {
	for _, session := range entry.Sessions {
		if len(session[figure]) > 0 {
			ratios = append(ratios, session[figure])
		}
	}
	return ratios
}

func compareFigure(figure string, baseline [][]float64, current []float64) Finding {
	thresholds := benchmath.DefaultThresholds
	thresholds.CompareAlpha = alpha
	before := benchmath.NewSample(slices.Concat(baseline...), &thresholds)
	after := benchmath.NewSample(slices.Clone(current), &thresholds)
	old := benchmath.AssumeNothing.Summary(before, confidence)
	now := benchmath.AssumeNothing.Summary(after, confidence)
	f := Finding{
		Figure: figure, Rounds: len(current), Baseline: old.Center, Current: now.Center,
		Change: now.Center/old.Center - 1, Low: -1, High: math.Inf(1),
		P: benchmath.AssumeNothing.Compare(before, after).P, Margin: margin(baseline, old.Center),
	}
	if now.Lo > 0 { // it is -Inf when there are too few rounds for an interval
		f.Low, f.High = now.Lo/old.Hi-1, now.Hi/old.Lo-1
	}
	differs := f.P < alpha
	f.Suspect = differs && f.Change > max(worse, f.Margin)
	f.Regressed = f.Suspect && f.Low > f.Margin
	f.Improved = differs && f.Change < -max(worse, f.Margin) && f.High < -f.Margin
	return f
}

// margin returns how far an unchanged engine may move.
func margin(baseline [][]float64, center float64) float64 {
	widest := 0.0
	for _, session := range baseline {
		widest = max(widest, math.Abs(math.Log(median(session)/center)))
	}
	return max(leastMargin, math.Expm1(spreads*widest))
}

// Median is what a figure came to where there is nothing to compare it with.
type Median struct {
	Figure    string
	Rounds    int
	Value     float64
	Low, High float64 // of its interval at 95 %; -Inf and +Inf when there are too few rounds
	Margin    float64 // that a change will have to lie beyond
}

// medians returns those of all that was measured, figure by figure.
func medians(entry Entry) []Median {
	var all []Median
	for _, figure := range Figures {
		sessions := ratiosOf(entry, figure)
		if len(sessions) == 0 {
			continue
		}
		sample := benchmath.NewSample(slices.Concat(sessions...), &benchmath.DefaultThresholds)
		s := benchmath.AssumeNothing.Summary(sample, confidence)
		all = append(all, Median{figure, len(sample.Values), s.Center, s.Lo, s.Hi, margin(sessions, s.Center)})
	}
	return all
}

func median(values []float64) float64 {
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, confidence).Center
}

// suspects returns the groups that have a suspect.
func suspects(findings []Finding) []string {
	var groups []string
	for _, f := range findings {
		if group := groupOf(f.Figure); f.Suspect && !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return groups
}

// confirm puts what a second measurement found in the place of every suspect.
func confirm(findings, again []Finding) {
	for i, f := range findings {
		for _, second := range again {
			if f.Suspect && second.Figure == f.Figure {
				findings[i] = second
				findings[i].Again = true
			}
		}
	}
}

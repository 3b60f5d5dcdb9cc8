package guard

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// machineModel draws ratios as a shared machine gives them.
type machineModel struct {
	random   *rand.Rand
	rounds   float64 // standard deviation of the logarithm of a round's ratio
	sessions float64 // the same, of what all rounds of one session share
	spikes   float64 // part of the rounds that something else disturbs, by up to three times
	shift    float64 // of the session under way
}

func (m *machineModel) begin() { m.shift = m.random.NormFloat64() * m.sessions }

func (m *machineModel) ratio(of float64) float64 {
	ratio := of * math.Exp(m.shift+m.random.NormFloat64()*m.rounds)
	if m.random.Float64() < m.spikes {
		ratio *= 1 + 2*m.random.Float64()
	}
	return ratio
}

// simulated is a meter whose engine is slower than the baseline's by a factor.
type simulated struct {
	model  machineModel
	factor map[string]float64 // 1 where a figure is missing
}

func (s *simulated) Round(_ context.Context, groups []string, round int, _ Sizes) (readings []Reading, _ error) {
	if round == 0 {
		s.model.begin()
	}
	for _, group := range groups {
		for _, figure := range Figures {
			factor, changed := s.factor[figure]
			if !changed {
				factor = 1
			}
			if groupOf(figure) == group {
				ratio := s.model.ratio(2 * factor)
				readings = append(readings, Reading{figure, ratio, 100 * ratio, "ns/event"})
			}
		}
	}
	return readings, nil
}

func (s *simulated) Close() error { return nil }

// noises are the rounds and sessions of figures of CPU time, measured on two cores that were shared
// with compilers, and twice as much.
var noises = []machineModel{
	{rounds: 0.08, sessions: 0.02, spikes: 0.05},
	{rounds: 0.16, sessions: 0.04, spikes: 0.10},
}

func seeded(model machineModel, seed uint64) machineModel {
	model.random = rand.New(rand.NewPCG(seed, 1))
	return model
}

func simulate(t *testing.T, model machineModel, seed uint64, factor map[string]float64) Verdict {
	t.Helper()
	simulation := &simulated{model: seeded(model, seed)}
	before := &guarding{meter: simulation, taken: Entry{Rounds: defaultRounds}}
	if err := before.sessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	simulation.factor = factor
	now := &guarding{meter: simulation, taken: Entry{Rounds: defaultRounds}, entry: &before.taken}
	if err := now.compare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return now.verdict
}

func TestNoiseIsNoRegression(t *testing.T) {
	for _, noise := range noises {
		failed := 0
		for seed := range uint64(1000) {
			if simulate(t, noise, seed, nil).Regressed {
				failed++
			}
		}
		if failed > 1 {
			t.Errorf("%+v: %d of 1000 runs without a change regressed", noise, failed)
		}
	}
}

func TestThirtyPercentAreCaught(t *testing.T) {
	slower := map[string]float64{DropTime: 1.3, DropCPU: 1.3, CoalesceTime: 1.3, CoalesceCPU: 1.3}
	for i, mayMiss := range []int{1, 250} { // with twice the noise the guard is careful, not blind
		noise, missed := noises[i], 0
		for seed := range uint64(1000) {
			if !simulate(t, noise, seed, slower).Regressed {
				missed++
			}
		}
		if missed > mayMiss {
			t.Errorf("%+v: %d of 1000 runs that were 30 %% slower passed", noise, missed)
		}
	}
}

func TestLessThanTenPercentPass(t *testing.T) {
	slower := map[string]float64{}
	for _, figure := range Figures {
		slower[figure] = 1.08
	}
	quiet := machineModel{rounds: 0.01, sessions: 0.001}
	for seed := range uint64(100) {
		v := simulate(t, quiet, seed, slower)
		if v.Regressed || v.Findings[0].P > alpha || v.Findings[0].Change < 0.05 {
			t.Fatalf("seed %d: %+v", seed, v.Findings[0])
		}
	}
}

func TestImprovementIsToldAndPasses(t *testing.T) {
	v := simulate(t, noises[0], 1, map[string]float64{PingP50: 0.5})
	for _, f := range v.Findings {
		if f.Improved != (f.Figure == PingP50) || f.Regressed {
			t.Errorf("%+v", f)
		}
	}
}

func TestFewRoundsDecideNothing(t *testing.T) {
	baseline := [][]float64{{1, 1.01, 1, 1, 1.02, 1, 1}, {1, 1, 1.01, 1, 1, 1, 1}}
	current := []float64{3, 3.1, 3.2, 3, 3.1, 3.3}
	if f := compareFigure(DropCPU, baseline, current[:LeastRounds-1]); f.Regressed || f.verdict() != "too few rounds to tell" {
		t.Errorf("%+v", f)
	}
	if f := compareFigure(DropCPU, baseline, current[:LeastRounds]); !f.Regressed || f.between() == "?" {
		t.Errorf("%+v", f)
	}
}

func TestSpreadOfTheSessionsWidensTheMargin(t *testing.T) {
	tight := [][]float64{{1, 1.01, 1.02}, {1.01, 1.01, 1.02}}
	wide := [][]float64{{1, 1, 1}, {1.2, 1.2, 1.2}, {1.2, 1.2, 1.2}}
	if got := margin(tight, 1.01); got != leastMargin {
		t.Errorf("tight: %v", got)
	}
	if got, want := margin(wide, 1.2), 0.44; math.Abs(got-want) > 0.001 {
		t.Errorf("wide: %v, want %v", got, want)
	}
}

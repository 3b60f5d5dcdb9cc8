package planner

import "math"

const (
	// autoParallel is how many slots an open number of them begins with: a host's chat, a second one, and
	// room for what runs beside them.
	autoParallel = 4
	// autoContext bounds an open context: the memory of all of it is taken at once, and a processor
	// reads a longer prompt for many minutes.
	autoContext = 32768
	// comfort is the context below which slots are given up, then precision of the KV cache.
	comfort = 8192
	// leastContext is the smallest open context: less than a system prompt with tools and an answer.
	leastContext = 2048
	// maxParallel is LLAMA_MAX_SEQ of llama.cpp (src/llama-cparams.h).
	maxParallel = 256
	// batch and ubatch are llama-server's own defaults.
	batchTokens, ubatchTokens = 2048, 512
)

// wish is what the configuration asks for; 0 leaves it to the plan, layers below 0 too.
type wish struct{ ctx, parallel, layers int }

// decider finds the largest setting that fits. It belongs to one call.
type decider struct {
	wish wish
	base setting // what is the same in all settings
	*estimator
	// failed says that gguf-parser-go didn't understand the model.
	failed bool
}

// tier is a range of settings; each is worse than the one before it.
type tier struct {
	kvType      kvType
	least, most int // context
	parallel    []int
	layers      func(d *decider, s setting) int
}

// decide returns the first setting that fits, the largest of its tier.
func (d *decider) decide() (setting, Estimate, bool) {
	for _, t := range d.tiers() {
		for _, parallel := range t.parallel {
			s := d.base
			s.kvType, s.parallel = t.kvType, parallel
			if s, e, ok := d.largest(s, t); ok {
				return s, e, true
			}
		}
	}
	return setting{}, Estimate{}, false
}

// wanted is the context that there should be.
func (d *decider) wanted() int {
	trained := d.file.Model.TrainedContext
	if d.wish.ctx > 0 {
		return min(d.wish.ctx, trained)
	}
	return min(autoContext, trained)
}

// least is the context below which there is no plan. One that is configured is halved at most: whoever
// asks for 32768 tokens isn't served with 2048.
func (d *decider) least() int {
	if d.wish.ctx > 0 {
		return min(d.wanted(), padded((d.wanted()+1)/2))
	}
	return min(d.wanted(), leastContext)
}

func (d *decider) tiers() []tier {
	want, good := d.wanted(), d.wanted()
	if d.wish.ctx == 0 {
		good = min(want, comfort)
	}
	asked, fewer := []int{4, 2, 1}, []int{1}
	if d.wish.parallel > 0 {
		asked, fewer = []int{min(d.wish.parallel, maxParallel)}, halves(min(d.wish.parallel, maxParallel))
	}
	layers, tiers := fixedLayers, []tier{}
	if len(d.hw.GPUs) > 0 && d.wish.layers < 0 {
		layers = mostLayers
		// Where not all layers fit, slots would drive more of them off the GPU.
		tiers = append(tiers, tier{kvF16, good, want, asked, allLayers}, tier{kvF16, good, good, asked[len(asked)-1:], layers})
	} else {
		tiers = append(tiers, tier{kvF16, good, want, asked, layers})
	}
	tiers = append(tiers,
		tier{kvQ8_0, good, want, asked[len(asked)-1:], layers},
		tier{kvF16, good, want, fewer, layers},
		tier{kvQ8_0, good, want, fewer, layers},
		tier{kvQ8_0, d.least(), want, fewer[len(fewer)-1:], layers}, // twice the context is worth more than its precision
	)
	if d.wish.layers > 0 {
		tiers = append(tiers, tier{kvF16, good, want, asked, mostLayers}, tier{kvQ8_0, d.least(), want, fewer[len(fewer)-1:], mostLayers})
	}
	return tiers
}

// halves returns n, n/2, … 1.
func halves(n int) (list []int) {
	for ; n > 0; n /= 2 {
		list = append(list, n)
	}
	return list
}

// largest finds the largest context of a tier, which is its most or a multiple of the step.
func (d *decider) largest(s setting, t tier) (setting, Estimate, bool) {
	if s, e, ok := d.try(s, t, t.most); ok {
		return s, e, true
	}
	if _, _, ok := d.try(s, t, t.least); !ok {
		return setting{}, Estimate{}, false
	}
	low, high := (t.least+contextStep-1)/contextStep, (t.most-1)/contextStep
	best := t.least
	for low <= high {
		middle := low + (high-low)/2
		if _, _, ok := d.try(s, t, middle*contextStep); ok {
			best, low = middle*contextStep, middle+1
		} else {
			high = middle - 1
		}
	}
	return d.try(s, t, best)
}

func (d *decider) try(s setting, t tier, ctx int) (setting, Estimate, bool) {
	s.ctx = ctx
	if d.failed || ctx < 1 || ctx > math.MaxInt32/s.parallel {
		return s, Estimate{}, false
	}
	s.layers = t.layers(d, s)
	e, ok := d.estimate(s)
	return s, e, ok && d.fits(e)
}

// estimate notes when there is none, which ends the search.
func (d *decider) estimate(s setting) (Estimate, bool) {
	e, ok := d.estimator.estimate(s)
	d.failed = d.failed || !ok
	return e, ok
}

// blocks is the number of layers that GPUs can take, the output among them.
func (d *decider) blocks() int { return d.file.Model.Layers + 1 }

// fixedLayers are those of the configuration, none without a GPU.
func fixedLayers(d *decider, _ setting) int {
	if len(d.hw.GPUs) == 0 {
		return 0
	}
	return min(max(d.wish.layers, 0), d.blocks())
}

func allLayers(d *decider, _ setting) int { return d.blocks() }

// mostLayers is the largest number of layers with which every GPU's share fits: it grows with them.
func mostLayers(d *decider, s setting) int {
	if len(d.hw.GPUs) == 0 {
		return 0
	}
	low, high := 0, d.blocks()
	for low < high {
		s.layers = (low + high + 1) / 2
		if e, ok := d.estimate(s); ok && d.gpusFit(e) {
			low = s.layers
		} else {
			high = s.layers - 1
		}
	}
	return low
}

// fits reports whether e fits with the margins kept.
func (d *decider) fits(e Estimate) bool {
	host := e.PerDevice[0].Total
	for i, g := range d.hw.GPUs {
		if g.Unified() {
			host += e.PerDevice[1+i].Total
		}
	}
	return host <= d.hw.Budget() && d.gpusFit(e)
}

// gpusFit reports whether every GPU's share fits.
func (d *decider) gpusFit(e Estimate) bool {
	for i, g := range d.hw.GPUs {
		if e.PerDevice[1+i].Total > g.Budget() {
			return false
		}
	}
	return true
}

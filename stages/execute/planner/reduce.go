package planner

import "fmt"

// Reduction says what was lowered, and why.
type Reduction struct {
	Setting string `json:"setting"` // the key of Plan
	From    any    `json:"from"`    // a number, or a type
	To      any    `json:"to"`
	Reason  string `json:"reason"`
	// Configured says that From is the configuration's, not what an open value could have been.
	Configured bool `json:"configured"`
}

// reductions compares a setting with what was asked for, or with what an open value could have been.
func (d *decider) reductions(s setting) []Reduction {
	list := d.contextReductions(s)
	tight := "so that it fits into the memory"
	if asked := d.askedParallel(); s.parallel < asked {
		reason := tight
		if d.wish.parallel > maxParallel {
			reason = fmt.Sprintf("llama.cpp knows %d slots at most", maxParallel)
		}
		list = append(list, Reduction{"parallel", asked, s.parallel, reason, d.wish.parallel > 0})
	}
	if s.kvType != kvF16 {
		list = append(list,
			Reduction{"cache_type_k", kvF16, s.kvType, tight, false},
			Reduction{"cache_type_v", kvF16, s.kvType, tight, false})
	}
	return append(list, d.layerReductions(s)...)
}

func (d *decider) askedParallel() int {
	if d.wish.parallel > 0 {
		return d.wish.parallel
	}
	return autoParallel
}

func (d *decider) contextReductions(s setting) (list []Reduction) {
	trained := d.file.Model.TrainedContext
	from := d.wish.ctx
	if from == 0 {
		from = trained
	}
	switch want := d.wanted(); {
	case d.wish.ctx > trained && s.ctx == want:
		list = append(list, Reduction{"ctx_size", from, s.ctx, "the model was trained for no more", true})
	case d.wish.ctx == 0 && s.ctx == want && want < trained:
		list = append(list, Reduction{"ctx_size", from, s.ctx, "an open context isn't made larger; set models[].ctx_size for more", false})
	case s.ctx < want:
		list = append(list, Reduction{"ctx_size", from, s.ctx, "so that it fits into the memory", d.wish.ctx > 0})
	}
	return list
}

func (d *decider) layerReductions(s setting) []Reduction {
	from := d.wish.layers
	switch {
	case len(d.hw.GPUs) == 0 && from > 0:
		return []Reduction{{"gpu_layers", from, 0, "llama-server finds no GPU", true}}
	case len(d.hw.GPUs) == 0:
		return nil
	case from < 0:
		from = d.blocks()
	case from > d.blocks():
		return []Reduction{{"gpu_layers", from, s.layers, fmt.Sprintf("the model has %d with its output", d.blocks()), true}}
	}
	if s.layers < from {
		return []Reduction{{"gpu_layers", from, s.layers, "so that it fits into the memory of the GPUs", d.wish.layers >= 0}}
	}
	return nil
}

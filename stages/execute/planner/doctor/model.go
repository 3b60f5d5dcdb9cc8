package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/internal/wire"
	"sluice/stages/execute/planner"
)

// Model checks one model: its file, its header, its chat template and whether it fits. plan is
// [planner.Planner.Plan] with the model's request.
func Model(name string, plan func(context.Context) (*planner.Result, error)) Check {
	return Check{"model:" + name, func(ctx context.Context) Finding {
		result, err := plan(ctx)
		if err != nil {
			return refused(err)
		}
		m, p := result.Model, result.Plan
		message := fmt.Sprintf("%s, %s parameters, %s", m.Quantization, parameters(m.Parameters), size(m.FileBytes))
		if p.CtxSize > 0 && result.Estimate.ComputeBuffers > 0 {
			message += fmt.Sprintf("; %s of %d tokens need %s", count(p.Parallel, "slot"), p.CtxSize, size(result.Estimate.Total))
		}
		concerns := append([]string{}, result.Warnings...)
		for _, r := range result.Reductions {
			if r.Configured {
				concerns = append(concerns, fmt.Sprintf("%s is lowered from %v to %v: %s", r.Setting, r.From, r.To, r.Reason))
			}
		}
		switch {
		case !result.Fits:
			return failed(message+"; it doesn't fit into the memory", "take a smaller model, or free memory")
		case len(concerns) > 0:
			return warned(message+"; "+strings.Join(concerns, "; "), "`sluice plan` shows all of the plan")
		}
		return passed(message)
	}}
}

// refused tells a fault of the planner, whose message says what to do.
func refused(err error) Finding {
	var fault *wire.Fault
	if !errors.As(err, &fault) {
		return failed("the model could not be looked at in time", "look at the drive that it lies on")
	}
	hint := "correct models[].path"
	if fault.Code == wire.CodeModelPlan {
		hint = "take one of the ways out, or another model"
	}
	return failed(fault.Message, hint)
}

// parameters writes their number for people.
func parameters(n uint64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f B", float64(n)/1e9)
}

// size writes bytes for people.
func size(n uint64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

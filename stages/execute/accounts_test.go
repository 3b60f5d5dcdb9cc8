package execute

import (
	"context"
	"time"
)

// fakeRun is a run of a gateway that does what its input says.
type fakeRun struct{ input string }

// Upstream implements Run.
func (*fakeRun) Upstream() time.Duration { return 0 }

func (r *fakeRun) play(ctx context.Context, tokens func(int64)) (Outcome, error) {
	tokens(2)
	return Outcome{}, nil
}

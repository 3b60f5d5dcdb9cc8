package agent

import (
	"context"
	"time"
)

// storePatience bounds a write to the session. Once the turn was cancelled, which must end soon and be
// stored all the same, the writes have lastPatience.
const storePatience, lastPatience = 10 * time.Second, 300 * time.Millisecond

// save writes to the session and reports whether it is stored. What can't be written is told once; the
// turn goes on.
func (t *turn) save(ctx context.Context, write func(ctx context.Context) error) bool {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), storePatience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		last := time.AfterFunc(lastPatience, cancel)
		context.AfterFunc(bounded, func() { last.Stop() })
	})
	defer stop()
	err := write(bounded)
	if err != nil && !t.storeWarned {
		t.storeWarned = true
		t.warn("this turn is not stored: " + err.Error())
	}
	return err == nil
}

package doctor

import (
	"context"
	"fmt"
	"time"
)

// Status is how a check ended. A report has that of its worst check.
type Status string

// The statuses, from best to worst.
const (
	OK   Status = "ok"
	Warn Status = "warn" // the engine works, but not as well as it could
	Fail Status = "fail" // chats will fail
)

// rank orders the statuses.
func (s Status) rank() int {
	switch s {
	case OK:
		return 0
	case Warn:
		return 1
	}
	return 2
}

// Finding is what one check found: a sentence, and for a warning or failure what to do next. It never
// holds a secret.
type Finding struct {
	ID      string `json:"id"`
	Status  Status `json:"status"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// Report is what the method doctor answers.
type Report struct {
	Status Status    `json:"status"`
	Checks []Finding `json:"checks"`
}

// Check is one thing to look at.
type Check struct {
	// ID is the check's name, the same in every report: "configuration", or "model:NAME".
	ID string
	// Look must end with its context where it can. The finding's ID is filled in.
	Look func(context.Context) Finding
}

// checkLimit bounds each check, runLimit all of them together.
const (
	checkLimit = 5 * time.Second
	runLimit   = 10 * time.Second
	// grace is how long a check may take to tell what it found after its context has ended.
	grace = 500 * time.Millisecond
)

// Run runs all checks side by side and returns what they found, in their order. It takes 5.5 s at most.
// When ctx ends, what hasn't been found by then is a failure.
func Run(ctx context.Context, checks []Check) Report {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	results := make([]chan Finding, len(checks))
	for i, check := range checks {
		results[i] = make(chan Finding, 1) // a late result has room and nobody waits for it
		go look(ctx, check, results[i])
	}
	late := time.NewTimer(checkLimit + grace)
	defer late.Stop()
	report := Report{Status: OK, Checks: make([]Finding, 0, len(checks))}
	expired := false
	for i, check := range checks {
		finding, arrived := Finding{}, false
		if !expired {
			select {
			case finding = <-results[i]:
				arrived = true
			case <-late.C:
				expired = true
			case <-ctx.Done():
				expired = true
			}
		}
		if !arrived {
			finding = lateOne(check, results[i])
		}
		report.add(finding)
	}
	return report
}

// lateOne takes a result that is there already, else says that there is none.
func lateOne(check Check, result <-chan Finding) Finding {
	select {
	case finding := <-result:
		return finding
	default:
		return Finding{check.ID, Fail, "the check did not end in time", "look at what it depends on: a network drive or a program that hangs"}
	}
}

func (r *Report) add(f Finding) {
	r.Checks = append(r.Checks, f)
	if f.Status.rank() > r.Status.rank() {
		r.Status = f.Status
	}
}

func look(ctx context.Context, check Check, result chan<- Finding) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	finding := Finding{}
	defer func() {
		if reason := recover(); reason != nil {
			finding = failed(fmt.Sprintf("the check itself failed: %T", reason), "report this with the log at debug")
		}
		finding.ID = check.ID
		result <- finding
	}()
	finding = check.Look(ctx)
}

// passed, warned and failed are findings without their ID.
func passed(message string) Finding       { return Finding{Status: OK, Message: message} }
func warned(message, hint string) Finding { return Finding{Status: Warn, Message: message, Hint: hint} }
func failed(message, hint string) Finding { return Finding{Status: Fail, Message: message, Hint: hint} }

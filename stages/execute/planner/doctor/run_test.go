package doctor

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"
)

// says is a check that finds f.
func says(id string, f Finding) Check {
	return Check{id, func(context.Context) Finding { return f }}
}

func TestReport(t *testing.T) {
	report := Run(t.Context(), []Check{says("a", passed("fine")), says("b", warned("so so", "do this")), says("c", failed("no", "do that")), says("d", passed("fine"))})
	got, err := json.Marshal(report)
	const want = `{"status":"fail","checks":[{"id":"a","status":"ok","message":"fine","hint":""},` +
		`{"id":"b","status":"warn","message":"so so","hint":"do this"},{"id":"c","status":"fail","message":"no","hint":"do that"},` +
		`{"id":"d","status":"ok","message":"fine","hint":""}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
	for status, checks := range map[Status][]Check{
		OK:   {says("a", passed(""))},
		Warn: {says("a", warned("", "")), says("b", passed(""))},
	} {
		if got := Run(t.Context(), checks).Status; got != status {
			t.Errorf("%s, want %s", got, status)
		}
	}
	if got, err := json.Marshal(Run(t.Context(), nil)); err != nil || string(got) != `{"status":"ok","checks":[]}` {
		t.Errorf("%s, %v", got, err)
	}
}

// TestWhateverHangs: neither checks that wait for their context nor those that never end keep the report
// waiting, however many there are, and the others are told.
func TestWhateverHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		var checks []Check
		for range 20 {
			checks = append(checks,
				Check{"polite", func(ctx context.Context) Finding { <-ctx.Done(); return warned("gave up", "") }},
				Check{"deaf", func(context.Context) Finding { <-end; return passed("too late") }},
				Check{"slow", func(context.Context) Finding { time.Sleep(4 * time.Second); return passed("slow") }},
				Check{"broken", func(context.Context) Finding { panic("secret") }})
		}
		start := time.Now()
		report := Run(t.Context(), checks)
		if took := time.Since(start); took != checkLimit+grace {
			t.Errorf("took %v", took)
		}
		want := map[string]Finding{
			"polite": {"polite", Warn, "gave up", ""},
			"deaf":   {"deaf", Fail, "the check did not end in time", "look at what it depends on: a network drive or a program that hangs"},
			"slow":   {"slow", OK, "slow", ""},
			"broken": {"broken", Fail, "the check itself failed: string", "report this with the log at debug"},
		}
		for i, f := range report.Checks {
			if f != want[checks[i].ID] {
				t.Errorf("%d: %+v", i, f)
			}
		}
		close(end)
	})
}

// TestSideBySide: five checks of four seconds take four.
func TestSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		check := Check{"slow", func(context.Context) Finding { time.Sleep(4 * time.Second); return passed("") }}
		start := time.Now()
		if report := Run(t.Context(), []Check{check, check, check, check, check}); report.Status != OK || time.Since(start) != 4*time.Second {
			t.Errorf("%+v after %v", report, time.Since(start))
		}
	})
}

// TestCancelled: a report that nobody waits for any more ends at once.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		end := make(chan struct{})
		start := time.Now()
		report := Run(ctx, []Check{says("a", passed("")), {"deaf", func(context.Context) Finding { <-end; return passed("") }}})
		if report.Status != Fail || report.Checks[0].Status != OK || time.Since(start) != time.Second {
			t.Errorf("%+v after %v", report, time.Since(start))
		}
		close(end)
	})
}

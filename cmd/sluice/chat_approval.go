package main

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/wire"
)

// shownApproval is how many characters of a call's arguments a person is shown before approving of it.
const shownApproval = 4000

// approvals ask a person which tool calls may run, one after the other. They belong to the goroutine
// that reads what the engine says.
type approvals struct {
	keyboard *keyboard // nil when nobody can be asked
	console  *console
	open     []*message // the tool_approvals that wait for an answer; the first one is being asked
}

// newApprovals ask where a person both sees the question and can answer it.
func newApprovals(k *keyboard, c *console) *approvals {
	if !c.terminal {
		k = nil
	}
	return &approvals{keyboard: k, console: c}
}

// add takes a tool_approval in. It returns the decision when that is made at once, else nothing.
func (a *approvals) add(m *message) wire.Decision {
	if a.keyboard == nil {
		a.console.println("sluice: " + oneLine(m.Tool, shownName) + " is denied: nobody can be asked here; --yes approves every call")
		return wire.DecisionDeny
	}
	a.open = append(a.open, m)
	if len(a.open) == 1 {
		a.ask()
	}
	return ""
}

func (a *approvals) ask() {
	m := a.open[0]
	a.keyboard.discard()
	a.console.println(fmt.Sprintf("sluice: may %s run with %s?", oneLine(m.Tool, shownName), oneLine(string(m.Args), shownApproval)))
	a.console.ask("  y = yes, s = yes, for the rest of the session, N = no: ")
}

// typed returns where the answer comes; nil while nothing is asked.
func (a *approvals) typed() <-chan typedLine {
	if len(a.open) == 0 {
		return nil
	}
	return a.keyboard.ask()
}

// answer takes what was typed as the answer to the first question, and asks the next one. Only a clear
// yes is one.
func (a *approvals) answer(l typedLine) (*message, wire.Decision) {
	a.keyboard.taken()
	m := a.open[0]
	a.open = a.open[1:]
	a.console.answered(strings.HasSuffix(l.text, "\n"))
	if len(a.open) > 0 {
		a.ask()
	}
	switch strings.ToLower(strings.TrimSpace(l.text)) {
	case "y", "yes":
		return m, wire.DecisionOnce
	case "s", "session":
		return m, wire.DecisionSession
	}
	return m, wire.DecisionDeny
}

// settle forgets a call that the engine has decided about.
func (a *approvals) settle(callID string) {
	at := slices.IndexFunc(a.open, func(m *message) bool { return m.CallID == callID })
	if at < 0 {
		return
	}
	a.open = slices.Delete(a.open, at, at+1)
	if at > 0 {
		return
	}
	a.console.answered(false)
	if len(a.open) > 0 {
		a.ask()
	}
}

// end forgets all questions: their chat has ended.
func (a *approvals) end() {
	if len(a.open) > 0 {
		a.console.answered(false)
	}
	a.open = nil
}

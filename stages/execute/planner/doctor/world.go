package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// MCP checks a tool server: probe starts or connects to it, shakes hands, lists its tools, and ends it
// again. It returns how many tools there are. Its error holds no secret.
func MCP(name string, probe func(context.Context) (tools int, err error)) Check {
	return Check{"mcp:" + name, func(ctx context.Context) Finding {
		tools, err := probe(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return failed(fmt.Sprintf("the MCP server did not answer within %v", checkLimit), "start its command yourself; the first start of npx or uvx downloads a program")
		case err != nil:
			return failed(err.Error(), fmt.Sprintf("correct mcp_servers.%s", name))
		case tools == 0:
			return warned("the MCP server offers no tools", fmt.Sprintf("look at its arguments, or remove mcp_servers.%s", name))
		}
		return passed(count(tools, "tool"))
	}}
}

// Keychain checks the operating system's keychain. probe says which one there is; its error is why there
// is none, which is no failure: keys are then read from the configuration. Nil: this build has none.
func Keychain(probe func(context.Context) (kind string, err error)) Check {
	return Check{"keychain", func(ctx context.Context) Finding {
		if probe == nil {
			return passed("not available in this build")
		}
		kind, err := probe(ctx)
		if err != nil {
			return passed(fmt.Sprintf("not available (%v); only sign-ins at gateways need it", err))
		}
		return passed(kind)
	}}
}

// Stdout tells what stdout is: "a pipe", "a socket", "a terminal", "a file". The error is why it can't be
// written.
func Stdout(kind func() (string, error)) Check {
	return Check{"stdout", func(context.Context) Finding {
		what, err := kind()
		if err != nil {
			return failed(fmt.Sprintf("stdout can't be used: %v", err), "start the engine with its stdout connected")
		}
		return passed("stdout is " + what)
	}}
}

// Process is a process of this machine.
type Process struct {
	PID  int
	Name string
}

// Orphans checks for servers of engines that are gone. find returns them; [FindOrphans] is one.
func Orphans(find func(context.Context) ([]Process, error)) Check {
	return Check{"orphans", func(ctx context.Context) Finding {
		left, err := find(ctx)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return passed("servers of earlier runs can't be told apart on this system")
		case err != nil:
			return warned(fmt.Sprintf("the processes of this machine can't be listed: %v", err), "look for leftover servers yourself")
		case len(left) == 0:
			return passed("no servers of earlier runs")
		}
		names, ids := []string{}, []string{}
		for i, p := range left {
			if i == maxListed {
				names = append(names, fmt.Sprintf("and %d more", len(left)-i))
				break
			}
			names = append(names, fmt.Sprintf("%s (%d)", p.Name, p.PID))
			ids = append(ids, fmt.Sprint(p.PID))
		}
		return warned("left over from earlier runs: "+strings.Join(names, ", "), "end them: kill "+strings.Join(ids, " "))
	}}
}

// maxListed bounds the processes that a finding lists.
const maxListed = 10

// Clock checks that the clock tells a believable year and doesn't run backwards.
func Clock(now func() time.Time) Check {
	return Check{"clock", func(context.Context) Finding {
		first := now()
		second := now()
		switch year := first.UTC().Year(); {
		case year < earliest || year > latest:
			return warned(fmt.Sprintf("the clock says %s", first.UTC().Format(time.DateOnly)), "set it: certificates and stored times will be wrong")
		case second.Before(first):
			return warned("the clock runs backwards", "look at the time service of this machine")
		}
		return passed(first.UTC().Format(time.RFC3339))
	}}
}

// earliest and latest are the years that a clock may tell: this was written in the first.
const earliest, latest = 2025, 2100

package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"sluice/internal/config"
	"sluice/stages/execute/tools"
)

// probe starts or connects to a tool server, lists its tools and has it ended again. It returns how many
// tools there are.
func (x *examining) probe(ctx context.Context, name string) (int, error) {
	one := config.Config{MCPServers: map[string]config.MCPServer{name: x.settings.MCPServers[name]}}
	manager := newTools(&one, x.launcher, x.log)
	defer x.dismiss(ctx, manager)
	_, warnings := manager.List(ctx, []string{name + "/*"}, nil)
	status := manager.Status()[0]
	switch {
	case status.State == tools.StateReady:
		return status.Tools, nil
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case status.State == tools.StateStarting:
		return 0, context.DeadlineExceeded
	case status.Fault != "":
		return 0, errors.New(status.Fault)
	}
	return 0, errors.New(strings.Join(warnings, "; "))
}

// dismiss ends a tool server while the report goes on. Where the check's time is over it is killed at once.
func (x *examining) dismiss(ctx context.Context, manager *tools.Manager) {
	go func() {
		defer x.closing.Done()
		if ctx.Err() == nil {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), dismissPatience)
			defer cancel()
		}
		_ = manager.Close(ctx)
	}()
}

// mayUse reports whether a glob on server/tool may name a tool of a server: what stands before its first
// star agrees with the name as far as both go.
func mayUse(globs []string, server string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		head, _, _ := strings.Cut(glob, "*")
		name := server + "/"
		common := min(len(head), len(name))
		return config.MatchGlob(head[:common], name[:common])
	})
}

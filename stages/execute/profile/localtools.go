package profile

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"sluice/internal/wire"
)

// The bounds of a call's time, in milliseconds, by the contract.
const (
	shortestTimeout = 1_000
	longestTimeout  = 3_600_000
	defaultTimeout  = 600_000
)

// The bounds of the lists, so that config.json stays readable.
const (
	mostEntries  = 256
	longestEntry = 4096 // bytes
)

// storedTools is localTools as the file holds it.
type storedTools struct {
	Enabled         bool     `json:"enabled"`
	CWD             string   `json:"cwd"`
	TimeoutMS       int64    `json:"timeoutMs"`
	AllowedRoots    []string `json:"allowedRoots"`
	BlockedCommands []string `json:"blockedCommands"`
	AllowDangerous  bool     `json:"allowDangerous"`
}

// LocalTools returns the configuration of local tools. Errors are config_invalid.
func (p *Profiles) LocalTools() (wire.LocalTools, error) {
	d, err := p.read()
	if err != nil {
		return wire.LocalTools{}, err
	}
	return d.localTools()
}

// Configure changes the configuration of local tools and returns it as it then is. A value that can't be is
// usage_error; other errors are config_invalid.
func (p *Profiles) Configure(ctx context.Context, change wire.LocalToolsChange) (wire.LocalTools, error) {
	if err := checkChange(change); err != nil {
		return wire.LocalTools{}, err
	}
	var configured wire.LocalTools
	err := p.update(ctx, false, func(d *document) (changed bool, err error) {
		changed = d.configure(change)
		configured, err = d.localTools()
		return changed, err
	})
	return configured, err
}

// localTools reads the configuration, with the defaults of what isn't there.
func (d *document) localTools() (wire.LocalTools, error) {
	stored := storedTools{TimeoutMS: defaultTimeout}
	fields := map[string]any{
		"enabled": &stored.Enabled, "cwd": &stored.CWD, "timeoutMs": &stored.TimeoutMS,
		"allowedRoots": &stored.AllowedRoots, "blockedCommands": &stored.BlockedCommands, "allowDangerous": &stored.AllowDangerous,
	}
	for name, field := range fields {
		raw, ok := d.local[name]
		if ok && json.Unmarshal(raw, field) != nil {
			return wire.LocalTools{}, wire.NewFault(wire.CodeConfigInvalid, "localTools."+name+" in config.json has the wrong type: set it anew with localTools/configure")
		}
	}
	return wire.LocalTools{
		Enabled: stored.Enabled, CWD: stored.CWD, TimeoutMS: clamped(stored.TimeoutMS),
		AllowedRoots: append([]string{}, stored.AllowedRoots...), BlockedCommands: append([]string{}, stored.BlockedCommands...),
		AllowDangerous: stored.AllowDangerous,
	}, nil
}

func clamped(milliseconds int64) int64 {
	return min(max(milliseconds, shortestTimeout), longestTimeout)
}

// configure puts what a change names into the document, and reports whether it names anything.
func (d *document) configure(change wire.LocalToolsChange) (changed bool) {
	put := func(name string, given bool, value any) {
		if given {
			d.local.set(name, value)
			changed = true
		}
	}
	put("enabled", change.Enabled != nil, change.Enabled)
	put("cwd", change.CWD != nil, change.CWD)
	if change.TimeoutMS != nil {
		put("timeoutMs", true, clamped(*change.TimeoutMS))
	}
	put("allowedRoots", change.AllowedRoots != nil, change.AllowedRoots)
	put("blockedCommands", change.BlockedCommands != nil, change.BlockedCommands)
	put("allowDangerous", change.AllowDangerous != nil, change.AllowDangerous)
	return changed
}

// checkChange refuses what no tool could work with.
func checkChange(change wire.LocalToolsChange) error {
	if change.CWD != nil && *change.CWD != "" && !usablePath(*change.CWD) {
		return usage("cwd must be an absolute path, or empty for the first of the allowed roots")
	}
	if len(change.AllowedRoots) > mostEntries || len(change.BlockedCommands) > mostEntries {
		return usage("allowedRoots and blockedCommands take at most 256 entries each")
	}
	for _, root := range change.AllowedRoots {
		if !usablePath(root) {
			return usage("allowedRoots must be absolute paths")
		}
	}
	for _, command := range change.BlockedCommands {
		if strings.TrimSpace(command) == "" || len(command) > longestEntry {
			return usage("blockedCommands must be names of commands")
		}
	}
	return nil
}

func usablePath(path string) bool {
	return filepath.IsAbs(path) && len(path) <= longestEntry && !strings.Contains(path, "\x00")
}

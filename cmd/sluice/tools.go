package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"sluice/internal/config"
	"sluice/internal/process"
	"sluice/stages/execute/tools"
)

// newTools makes the tools of the configured MCP servers. Its owner closes it, before the launcher.
func newTools(settings *config.Config, launcher *process.Launcher, log *slog.Logger) *tools.Manager {
	servers := make(map[string]tools.Server, len(settings.MCPServers))
	for name, server := range settings.MCPServers {
		servers[name] = tools.Server{
			Command:       server.Command,
			Args:          server.Args,
			Dir:           server.Cwd,
			Env:           server.Env,
			URL:           server.URL,
			Headers:       server.Headers,
			Timeout:       server.Timeout,
			NeedsApproval: server.RequiresApproval.Needs,
			Clean:         serverRedactor(server),
		}
	}
	spawn := toolSpawner{launcher, log}
	return tools.New(tools.Options{Servers: servers, Match: config.MatchGlob, Spawn: spawn.start, Version: version, Logger: log})
}

// toolSpawner starts MCP servers.
type toolSpawner struct {
	launcher *process.Launcher
	log      *slog.Logger
}

// start implements tools.Options.Spawn.
func (s toolSpawner) start(name string, server tools.Server) (tools.Process, error) {
	if !isFolder(server.Dir) {
		return nil, fmt.Errorf("its working directory %s is no folder; make it, or look at mcp_servers.%s.cwd", server.Dir, name)
	}
	path, err := findCommand(server.Command, server.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w; install it, or look at mcp_servers.%s.command", err, name)
	}
	tail := process.NewTail(toolLines, server.Clean, func(line string) {
		s.log.Debug("MCP server prints", "server", name, "line", line)
	})
	command := process.Command{Path: path, Args: server.Args, Env: toolEnvironment(os.LookupEnv, server.Env), Dir: server.Dir}
	started, err := startTool(s.launcher, command, tail)
	if err != nil {
		return nil, fmt.Errorf("%s can't be started: %w; look at mcp_servers.%s.command", path, err, name)
	}
	return started, nil
}

// isFolder reports whether a working directory is there. The empty one is ours.
func isFolder(dir string) bool {
	if dir == "" {
		return true
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// findCommand returns the path of a command: a bare name is looked up on PATH, a relative path belongs
// to the working directory of the server.
func findCommand(command, dir string) (string, error) {
	if filepath.Base(command) != command && !filepath.IsAbs(command) && dir != "" {
		command = filepath.Join(dir, command)
	}
	path, err := exec.LookPath(command)
	switch {
	case err == nil:
		return filepath.Abs(path) // it is started in another folder
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("its command %q is not executable", command)
	case filepath.Base(command) == command:
		return "", fmt.Errorf("its command %q is not on PATH", command)
	}
	return "", fmt.Errorf("its command %q is not there", command)
}

// Variables that an MCP server gets besides its own. Windows programs don't run without those of theirs.
var (
	inheritedVariables = []string{"PATH", "HOME", "USER", "LANG", "TMPDIR"}
	windowsVariables   = []string{
		"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "HOMEDRIVE",
		"HOMEPATH", "APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
	}
)

// toolEnvironment is an MCP server's environment: a few of our variables, as lookup has them, and its own.
func toolEnvironment(lookup func(string) (string, bool), own map[string]string) []string {
	names := inheritedVariables
	if runtime.GOOS == "windows" {
		names = append(names[:len(names):len(names)], windowsVariables...)
	}
	var env []string
	for _, name := range names {
		value, set := lookup(name)
		if set && !overridden(name, own) {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	return env
}

// overridden reports whether a variable is among own. On Windows names don't tell case apart.
func overridden(name string, own map[string]string) bool {
	for other := range own {
		if other == name || runtime.GOOS == "windows" && strings.EqualFold(other, name) {
			return true
		}
	}
	return false
}

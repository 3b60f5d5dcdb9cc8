package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sluice/internal/config"
	"sluice/internal/keychain"
	"sluice/internal/process"
	"sluice/sources/llama"
	"sluice/stages/execute/planner"
	"sluice/stages/execute/planner/doctor"
	"sluice/stages/execute/session"
)

const (
	// doctorPatience bounds each question to llama-server: two of them, and the one for GPUs, which has twice
	// as long, end within the 5 s that a check has.
	doctorPatience = 2 * time.Second
	// dismissPatience is how long a tool server may take to end when asked, endPatience how long the end of
	// all that was started is waited for.
	dismissPatience, endPatience = time.Second, 3 * time.Second
)

// engineNames are the names that an engine's program goes by.
var engineNames = []string{"sluice", "local-ai", "dex"}

// examination is what doctor looks at: a configuration, and what it names.
type examination struct {
	settings *config.Config
	facts    doctor.ConfigurationFacts
	stdout   io.Writer
	log      *slog.Logger
	// turns holds a token for each report that a host is being made: each starts every tool server.
	turns chan struct{}
}

// mostReports are made for hosts at once; the others wait.
const mostReports = 2

// newExamination looks at a configuration that was read, or wasn't because of err: then at the defaults.
func newExamination(loaded *config.Loaded, err error, stdout io.Writer, log *slog.Logger) *examination {
	x := &examination{stdout: stdout, log: log, turns: make(chan struct{}, mostReports), facts: doctor.ConfigurationFacts{Err: err}}
	if err != nil {
		defaults := config.Default()
		x.settings = &defaults
		return x
	}
	x.settings = &loaded.Config
	x.facts = doctor.ConfigurationFacts{
		Path: loaded.Path, Warnings: loaded.Warnings, Models: len(loaded.Config.Models), Agents: len(loaded.Config.Agents),
		Absent: len(loaded.Config.Models) == 0 && (loaded.Missing != "" || !loaded.Found),
	}
	if x.facts.Absent {
		x.facts.Path = loaded.Missing
	}
	return x
}

// document is the method doctor (execute.Doctor).
func (x *examination) document(ctx context.Context, agent string) ([]byte, error) {
	select {
	case x.turns <- struct{}{}:
		defer func() { <-x.turns }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return json.Marshal(x.report(ctx, agent))
}

// report looks at everything, or at what an agent needs when one is named. It takes 10 s at most, and
// nothing that it started is left.
func (x *examination) report(ctx context.Context, agent string) doctor.Report {
	run := examining{examination: x, launcher: process.NewLauncher(process.LauncherOptions{Logger: x.log})}
	defer run.end()
	return doctor.Run(ctx, run.checks(agent))
}

// examining is one run of an examination.
type examining struct {
	*examination
	launcher *process.Launcher
	// closing counts the tool servers that are not ended yet.
	closing sync.WaitGroup
}

// end kills what is left and waits for it, unless it hangs in the system.
func (x *examining) end() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		x.closing.Wait()
		x.launcher.Close()
	}()
	timer := time.NewTimer(endPatience)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		go x.launcher.Close() // which kills
		x.log.Warn("a program that doctor started can't be ended; its guardian goes on trying")
	}
}

// checks are all checks, in the order of the report.
func (x *examining) checks(agent string) []doctor.Check {
	models, servers := x.needs(agent)
	list := []doctor.Check{doctor.Configuration(x.facts), doctor.Server(x.server())}
	plans := newPlans(x.settings, x.launcher, doctorPatience, slog.New(slog.DiscardHandler))
	for _, model := range models {
		if plans.plannable(model) != nil {
			continue // the server has it
		}
		list = append(list, doctor.Model(model.Name, func(ctx context.Context) (*planner.Result, error) {
			return plans.result(ctx, model.Name)
		}))
	}
	list = append(list, doctor.Folder(doctor.FolderFacts{Path: x.settings.App.DataDir, Database: x.database}))
	x.closing.Add(len(servers))
	for _, name := range servers {
		list = append(list, doctor.MCP(name, func(ctx context.Context) (int, error) { return x.probe(ctx, name) }))
	}
	return append(list,
		doctor.Keychain(keychain.Kind),
		doctor.Stdout(func() (string, error) { return stdoutKind(x.stdout) }),
		doctor.Orphans(findOrphans),
		doctor.Clock(time.Now))
}

// needs are the models and tool servers of an agent, or all.
func (x *examining) needs(agent string) (models []config.Model, servers []string) {
	servers = slices.Sorted(maps.Keys(x.settings.MCPServers))
	at := slices.IndexFunc(x.settings.Agents, func(a config.Agent) bool { return agent != "" && a.Name == agent })
	if at < 0 {
		return x.settings.Models, servers
	}
	one := x.settings.Agents[at]
	for _, model := range x.settings.Models {
		if model.Name == one.Model || x.settings.Memory.Enabled && model.Name == x.settings.Memory.EmbeddingModel {
			models = append(models, model)
		}
	}
	return models, slices.DeleteFunc(servers, func(name string) bool { return !mayUse(one.Tools, name) })
}

// server is how llama-server is reached.
func (x *examining) server() doctor.ServerFacts {
	configured := &x.settings.LlamaServer
	switch configured.URL {
	case "":
		return doctor.ServerFacts{Binary: configured.Binary, Find: findProgram, Run: x.ask}
	case config.DemoURL:
		return doctor.ServerFacts{Where: "the embedded model", Ping: func(context.Context) error { return nil }}
	}
	where := "the server of llama_server.url"
	if address, err := url.Parse(configured.URL); err == nil {
		where = address.Redacted()
	}
	options := llama.ServerOptions{URL: configured.URL, APIKey: configured.APIKey}
	return doctor.ServerFacts{Where: where, Ping: func(ctx context.Context) error { return llama.Ping(ctx, options) }}
}

// findProgram finds a program; the error doesn't repeat its name.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	var named *exec.Error
	if errors.As(err, &named) {
		err = named.Err
	}
	return path, err
}

// ask runs llama-server with arguments that make it print something and end.
func (x *examining) ask(ctx context.Context, path string, args ...string) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	text, problems, err := llama.Ask(bounded, x.launcher, path, args...)
	return text + problems, err
}

// database opens the database of sessions as a person who lists them would.
func (x *examining) database(ctx context.Context) error {
	store := session.New(session.Options{Dir: x.settings.App.DataDir, Inspect: true})
	_, err := store.List(ctx, defaultUser)
	if errors.Is(err, session.ErrNoFile) {
		err = nil
	}
	return errors.Join(err, store.Close(ctx))
}

// findOrphans finds the servers of engines that are gone.
func findOrphans(ctx context.Context) ([]doctor.Process, error) {
	names := engineNames
	if path, err := os.Executable(); err == nil {
		names = append(slices.Clone(names), filepath.Base(path))
	}
	return doctor.FindOrphans(ctx, "/proc", process.MarkerPrefix, names)
}

// stdoutKind tells what stdout is.
func stdoutKind(w io.Writer) (string, error) {
	file, ok := w.(*os.File)
	if !ok {
		if _, socket := w.(net.Conn); socket {
			return "a socket", nil
		}
		return "a stream within this program", nil
	}
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("it is closed or broken: %w", err)
	}
	switch mode := info.Mode(); {
	case isTerminal(file):
		return "a terminal", nil
	case mode&os.ModeNamedPipe != 0:
		return "a pipe", nil
	case mode&os.ModeSocket != 0:
		return "a socket", nil
	case mode.IsRegular():
		return "a file", nil
	}
	return "a device", nil
}

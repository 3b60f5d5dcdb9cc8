package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/stages/execute/planner"
)

// ConfigurationFacts says how the configuration was read.
type ConfigurationFacts struct {
	// Path is the file; empty without one.
	Path string
	// Absent says that there is no configuration: the file isn't there, and no variable is set.
	Absent bool
	// Err is why it can't be used: it names file, line and key, and no secret.
	Err error
	// Warnings are oddities, such as unknown variables.
	Warnings []string
	// Models and Agents are how many there are.
	Models, Agents int
}

// Configuration checks the configuration.
func Configuration(c ConfigurationFacts) Check {
	return Check{"configuration", func(context.Context) Finding {
		from := c.Path
		if from == "" {
			from = "the environment"
		}
		switch {
		case c.Err != nil:
			return failed(c.Err.Error(), "correct the configuration; `sluice config` shows what is in effect")
		case c.Absent:
			return failed("there is no configuration"+beside(c.Path), "write one with models[].path set to a GGUF file, or try --demo")
		case c.Agents == 0 && c.Models == 0:
			return failed(from+" names neither a model nor an agent", "set models[].path to a GGUF file, or llama_server.url to a running server")
		case len(c.Warnings) > 0:
			return warned(strings.Join(c.Warnings, "; "), "correct or remove them")
		}
		return passed(fmt.Sprintf("%s: %s, %s", from, count(c.Models, "model"), count(c.Agents, "agent")))
	}}
}

func beside(path string) string {
	if path == "" {
		return ""
	}
	return fmt.Sprintf(" (%s is not there)", path)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ServerFacts says how llama-server is reached. With Ping it is attached to, else Binary is started.
type ServerFacts struct {
	// Ping asks a running server whether it is healthy. Where says which one, without its key.
	Ping  func(context.Context) error
	Where string
	// Binary is a name or a path; Find returns the path of the program.
	Binary string
	Find   func(binary string) (string, error)
	// Run runs the program with these arguments and returns what it printed on stdout and stderr. It must
	// end it with its context.
	Run func(ctx context.Context, path string, args ...string) (string, error)
}

// Server checks that llama-server is there, starts, and knows the flags that it is started with. It is
// never started with a model.
func Server(s ServerFacts) Check {
	return Check{"llama_server", func(ctx context.Context) Finding {
		if s.Ping != nil {
			return s.attached(ctx)
		}
		path, err := s.Find(s.Binary)
		if err != nil {
			return failed(fmt.Sprintf("%q was not found: %v", s.Binary, err), "install llama.cpp, or set llama_server.binary to the path of llama-server")
		}
		version, err := s.Run(ctx, path, "--version")
		if err != nil {
			return s.broken(path, "--version", version, err)
		}
		help, err := s.Run(ctx, path, "--help")
		if err != nil {
			return s.broken(path, "--help", help, err)
		}
		if unknown := planner.LeftOut(help); len(unknown) > 0 {
			return warned(fmt.Sprintf("%s (%s) doesn't know %s, and is started without", path, firstLine(version), strings.Join(unknown, ", ")),
				"update llama.cpp; the flags are those of builds since the end of 2025, which keep it within the planned memory")
		}
		return passed(fmt.Sprintf("%s, %s", path, firstLine(version)))
	}}
}

func (s ServerFacts) attached(ctx context.Context) Finding {
	if err := s.Ping(ctx); err != nil {
		return failed(fmt.Sprintf("%s doesn't answer: %v", s.Where, err), "start that server, or correct llama_server.url and llama_server.api_key")
	}
	return passed(s.Where + " answers")
}

func (s ServerFacts) broken(path, flag, output string, err error) Finding {
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("it did not end in time")
	}
	message := fmt.Sprintf("`%s %s` failed: %v", path, flag, err)
	if line := firstLine(output); line != "" {
		message += ": " + line
	}
	return failed(message, "run that command yourself; a missing library or a build for another processor shows there")
}

// firstLine is the first line with text, bounded.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line[:min(len(line), 200)]
		}
	}
	return ""
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/bench/load"
	"sluice/internal/config"
)

// benchTarget is the server that the tokens come from; the zero value is the built-in one.
type benchTarget struct {
	url    string
	apiKey string
}

const (
	// apiKeyVariable hands the key of a server to the engine without showing it to anybody else.
	apiKeyVariable = "SLUICE_LLAMA_SERVER_API_KEY"
	// benchServerCommand is the load server as a process of its own.
	benchServerCommand = "bench-load-server"
	// answerPatience is how long a server may take to say that it is there.
	answerPatience = 10 * time.Second
)

// target finds out where the tokens come from and whether a server of the user's own is there.
func (f *benchFlags) target(ctx context.Context) (t benchTarget, err error) {
	switch {
	case f.url != "" && f.config != "":
		return t, &failure{exitUsage, "--url and --config both name a server: give one of them"}
	case f.url != "":
		t = benchTarget{f.url, os.Getenv(apiKeyVariable)}
	case f.config != "":
		loaded, err := config.Load(config.Options{Path: f.config, Mode: config.ModeNDJSON})
		if err != nil {
			return t, err
		}
		t = benchTarget{loaded.Config.LlamaServer.URL, loaded.Config.LlamaServer.APIKey}
		if t.url == "" {
			return t, &failure{exitUsage, f.config + " has no llama_server.url: start llama-server and name it there or with --url"}
		}
	default:
		return t, nil
	}
	if !measurable(t.url) {
		return t, &failure{exitUsage, "the server's address is none that can be measured: give one such as http://127.0.0.1:8080"}
	}
	return t, t.answers(ctx)
}

// measurable reports whether an address is one that paths can be added to, and that holds no secret: it
// is shown in messages and in the report.
func measurable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

// answers asks the server whether it is there, so that one that isn't is told before a run.
func (t benchTarget) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(t.url, "/")+"/health", nil)
	if err != nil {
		return &failure{exitUsage, err.Error()}
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return &failure{exitFailed, fmt.Sprintf("no server answers at %s: start it, or name another (%v)", t.url, err)}
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return &failure{exitFailed, fmt.Sprintf("the server at %s is not ready (%s): wait until it has loaded its model", t.url, response.Status)}
	}
	return nil
}

// environment is what the engine needs beside its configuration.
func (t benchTarget) environment() []string {
	if t.apiKey == "" {
		return nil
	}
	return []string{apiKeyVariable + "=" + t.apiKey}
}

// newBenchServer is the load server that sluice bench starts, so that its processor time isn't counted
// as the engine's. It ends with its input; a Ctrl-C is for sluice bench to act on.
func newBenchServer(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    benchServerCommand,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, stop := notifyInterrupts()
			defer stop()
			return load.ServeUntilEnd(stdioInput(s.in), s.out)
		},
	}
}

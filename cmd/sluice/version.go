package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// version is the release that this tree is, or will be.
const version = "0.1.0"

// facts are what sluice version tells.
type facts struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func buildFacts() facts {
	f := facts{Name: "sluice", Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return f
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			f.Revision = s.Value
		case "vcs.modified":
			f.Modified = s.Value == "true"
		}
	}
	return f
}

func newVersion(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print what was built",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			f := buildFacts()
			if asJSON {
				return json.NewEncoder(s.out).Encode(f)
			}
			_, err := fmt.Fprintln(s.out, strings.Join(slices.DeleteFunc([]string{f.Name, f.Version, f.Revision, f.Go, f.Platform}, isEmpty), " "))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func isEmpty(text string) bool { return text == "" }

package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"sluice/internal/config"
	"sluice/internal/wire"
	"sluice/stages/execute/planner/doctor"
)

func newDoctor(s streams) *cobra.Command {
	var flags sourceFlags
	var agent string
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look at what chats need, and say what to do about what is missing",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			loaded, err := flags.load()
			if err == nil && agent != "" && len(loaded.Config.Agents) > 0 {
				if _, fault := agentNamed(&loaded.Config, agent); fault != nil {
					return &failure{exitFailed, fault.Message}
				}
			}
			x := newExamination(loaded, err, s.out, slog.New(slog.DiscardHandler))
			report := x.report(c.Context(), agent)
			if err := printReport(s.out, report, asJSON); err != nil {
				return err
			}
			if report.Status == doctor.Fail {
				return &failure{status: exitFailed}
			}
			return nil
		},
	}
	flags.add(c)
	c.Flags().StringVar(&agent, "agent", "", "look at what this agent needs (default: at what all do)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// agentNamed finds an agent; the empty name stands for the first one.
func agentNamed(settings *config.Config, name string) (config.Agent, *wire.Fault) {
	names := make([]string, 0, len(settings.Agents))
	for _, agent := range settings.Agents {
		if name == "" || agent.Name == name {
			return agent, nil
		}
		names = append(names, agent.Name)
	}
	return config.Agent{}, unknownAgent(name, names)
}

// printJSON prints an object as hosts get it, in one line.
func printJSON(w io.Writer, object any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	_, err = w.Write(append(wire.AppendObject(nil, string(text), false), '\n'))
	return err
}

func printReport(w io.Writer, report doctor.Report, asJSON bool) error {
	if asJSON {
		return printJSON(w, report)
	}
	p := newPainter(w)
	p.report(report)
	return p.err
}

// statusColours are the colours of the statuses.
var statusColours = map[doctor.Status]colour{doctor.OK: green, doctor.Warn: yellow, doctor.Fail: red}

const statusWidth = len("warn")

// report prints a table of what was found, and below it what to do.
func (p *painter) report(report doctor.Report) {
	width := 0
	for _, found := range report.Checks {
		width = max(width, utf8.RuneCountInString(asLine(found.ID)))
	}
	for _, found := range report.Checks {
		p.println(p.status(found.Status), "  ", padded(asLine(found.ID), width), "  ", asLine(found.Message))
	}
	if slices.ContainsFunc(report.Checks, func(f doctor.Finding) bool { return f.Hint != "" }) {
		p.println()
		p.println(p.paint(bold, "What to do"))
	}
	for _, found := range report.Checks {
		if found.Hint != "" {
			p.println("  ", padded(asLine(found.ID), width), "  ", asLine(found.Hint))
		}
	}
	p.println()
	p.println("In all: ", p.paint(statusColours[report.Status], string(report.Status)))
}

func (p *painter) status(s doctor.Status) string {
	return p.paint(statusColours[s], padded(string(s), statusWidth))
}

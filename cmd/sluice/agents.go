package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sluice/internal/config"
	"sluice/internal/wire"
)

const (
	// agentPages bounds how many pages of agents are asked for, of agentPageSize agents each.
	agentPages    = 100
	agentPageSize = 100
	// localWorkflow is the type of an agent of the configuration, by the protocol.
	localWorkflow = "local"
)

func newAgents(s streams) *cobra.Command {
	var flags accountFlags
	query := wire.AgentQuery{PageSize: agentPageSize}
	c := &cobra.Command{
		Use:   "agents",
		Short: "List the agents of a profile",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if query.Owner != "" && query.Owner != "personal" && query.Owner != "shared" {
				return &failure{exitUsage, "--owner is personal or shared"}
			}
			return flags.with(c.Context(), s, func(ctx context.Context, a *accounts, loaded *config.Loaded) error {
				p, err := a.profiles.Resolve(flags.profile)
				if err != nil {
					return err
				}
				list, err := agentsOf(ctx, a, p, loaded, query)
				if err != nil {
					return err
				}
				if flags.asJSON {
					return printAgentsJSON(s.out, list)
				}
				if len(list) == 0 {
					fmt.Fprintf(s.err, "%s has no such agents\n", p.Name)
					return nil
				}
				return printAgents(s.out, list)
			})
		},
	}
	flags.add(c)
	flags.addProfile(c)
	flags.addJSON(c)
	c.Flags().StringVar(&query.Search, "search", "", "only agents that match this text")
	c.Flags().StringVar(&query.Owner, "owner", "", "only personal or shared agents")
	c.Flags().BoolVar(&query.IncludeHarness, "harness", false, "harnesses, too")
	return c
}

// agentsOf returns all agents of a profile, page by page.
func agentsOf(ctx context.Context, a *accounts, p wire.Profile, loaded *config.Loaded, query wire.AgentQuery) ([]wire.AgentInfo, error) {
	if p.Local() {
		if fault := unconfigured(loaded); fault != nil {
			return nil, fault
		}
		return slices.DeleteFunc(localAgents(loaded), func(a wire.AgentInfo) bool {
			return !strings.Contains(strings.ToLower(a.WorkflowName), strings.ToLower(query.Search))
		}), nil
	}
	list := []wire.AgentInfo{}
	for query.Page = 1; query.Page <= agentPages; query.Page++ {
		page, err := a.at(p).Agents(ctx, query)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Items...)
		if len(page.Items) == 0 || int64(query.Page) >= page.TotalPages {
			break
		}
	}
	return list, nil
}

// localAgents are the agents of the configuration as the protocol shows them.
func localAgents(loaded *config.Loaded) []wire.AgentInfo {
	list := []wire.AgentInfo{}
	for i, agent := range loaded.Config.Agents {
		list = append(list, wire.AgentInfo{ID: int64(i + 1), WorkflowID: agent.Name, WorkflowName: agent.Name, IsCompleted: true, WorkflowType: localWorkflow})
	}
	return list
}

func printAgents(w io.Writer, list []wire.AgentInfo) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "AGENT\tNAME\tTYPE\tOWNER\tDESCRIPTION")
	for _, a := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", cell(a.WorkflowID, nameWidth), cell(a.WorkflowName, nameWidth),
			cell(a.WorkflowType, nameWidth), cell(a.Username, nameWidth), cell(a.Description, wordsWidth))
	}
	return table.Flush()
}

// agentJSON is an agent as the protocol shows it.
type agentJSON struct {
	ID           int64  `json:"id"`
	WorkflowID   string `json:"workflowId"`
	WorkflowName string `json:"workflowName"`
	NodeCount    int64  `json:"nodeCount"`
	IsShared     bool   `json:"isShared"`
	IsDeployed   bool   `json:"isDeployed"`
	IsCompleted  bool   `json:"isCompleted"`
	WorkflowType string `json:"workflowType"`
	Description  string `json:"description"`
	Username     string `json:"username"`
	FullName     string `json:"fullName"`
	Created      string `json:"createdAt"`
	Updated      string `json:"updatedAt"`
}

func printAgentsJSON(w io.Writer, list []wire.AgentInfo) error {
	all := []agentJSON{}
	for _, a := range list {
		all = append(all, agentJSON(a))
	}
	return json.NewEncoder(w).Encode(all)
}

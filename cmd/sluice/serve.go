package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/config"
	"sluice/internal/wire"
	"sluice/pipeline"
	"sluice/sources/gateway"
	"sluice/stages/execute"
	"sluice/stages/execute/profile"
	"sluice/stages/execute/session"
)

func newServe(s streams) *cobra.Command {
	var flags sourceFlags
	var stdio bool
	c := &cobra.Command{
		Use:   "serve --stdio",
		Short: "Serve JSON-RPC v1 on stdin and stdout",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !stdio {
				return &failure{exitUsage, "serve needs --stdio: stdin and stdout are the only way to talk to it"}
			}
			loaded, err := config.Load(config.Options{Path: flags.path, Mode: config.ModeJSONRPC, Demo: flags.demo})
			if err != nil {
				return err
			}
			return serve(c.Context(), loaded, s, jsonRPC)
		},
	}
	flags.add(c)
	c.Flags().Lookup("config").Usage = "configuration file (default $SLUICE_CONFIG, then sluice/config.yaml in the user's configuration folder)"
	c.Flags().BoolVar(&stdio, "stdio", false, "talk over stdin and stdout")
	return c
}

// jsonRPC is the door of serve.
func jsonRPC(loaded *config.Loaded, back *backend, log *slog.Logger) door {
	a := newAccounts(accountOptions{localAgents: unconfigured(loaded) == nil, log: log})
	settings := &loaded.Config
	return door{
		protocol: pipeline.JSONRPC(int(settings.Input.MaxLineBytes), settings.Output.ASCII),
		rpc:      &execute.RPC{Profiles: a.profiles, Accounts: accountsPort{a}, Archive: archivePort{back.sessions}},
		close:    a.close,
	}
}

// accountsPort are the gateways as execute sees them.
type accountsPort struct{ *accounts }

// Account implements execute.Accounts.
func (a accountsPort) Account(p wire.Profile) execute.Account {
	session := a.profiles.Session(p)
	return accountPort{a.client.Account(p.ServerURL, session), session}
}

// accountPort is an account as execute sees it.
type accountPort struct {
	*gateway.Account
	session *profile.Session
}

// SignedIn implements execute.Account.
func (a accountPort) SignedIn(ctx context.Context) error {
	_, err := a.session.Token(ctx)
	return err
}

// Chat implements execute.Account.
func (a accountPort) Chat(chat wire.RemoteChat) execute.Run {
	return a.OpenChat(gateway.ChatRequest(chat))
}

// archivePort is the session store as JSON-RPC's history sees it.
type archivePort struct{ store *session.Store }

// Conversations implements execute.Archive.
func (a archivePort) Conversations(ctx context.Context, user string) ([]wire.Conversation, error) {
	sessions, err := a.store.List(ctx, user)
	if err != nil {
		return nil, err
	}
	list := make([]wire.Conversation, 0, len(sessions))
	for _, one := range sessions {
		list = append(list, wire.Conversation{
			ID: one.ID, InteractionID: one.Session, WorkflowID: one.Agent, WorkflowName: one.Agent, InteractionCount: int64(one.Turns),
			Created: one.Begun.UTC().Format(time.RFC3339), Updated: one.Last.UTC().Format(time.RFC3339),
		})
	}
	return list, nil
}

// Turns implements execute.Archive. Turns that can't be read are left out; the store has told the log.
func (a archivePort) Turns(ctx context.Context, user, name string) ([]wire.Turn, error) {
	turns, _, err := a.store.Turns(ctx, user, name)
	return turns, err
}

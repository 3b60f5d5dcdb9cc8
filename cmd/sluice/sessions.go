package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sluice/stages/execute/session"
)

// defaultUser is who a chat without user_id belongs to.
const defaultUser = "default_user"

// sessionFlags are what all commands about sessions take.
type sessionFlags struct {
	source sourceFlags
	user   string
	asJSON bool
}

func newSessions(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List, show or delete what is stored of past chats, per user",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSessionsList(s), newSessionsShow(s), newSessionsDelete(s))
	return c
}

func (f *sessionFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.source.path, "config", "", "configuration file (default $SLUICE_CONFIG, then config.yaml); its app.data_dir is looked at")
	c.Flags().StringVar(&f.user, "user", defaultUser, "whose sessions")
}

func (f *sessionFlags) addJSON(c *cobra.Command) {
	c.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

// withStore runs a function over the stored sessions, of which nothing is repaired or made.
func (f *sessionFlags) withStore(ctx context.Context, s streams, run func(store *session.Store) error) error {
	loaded, err := f.source.load()
	if err != nil {
		return err
	}
	for _, warning := range loaded.Warnings {
		fmt.Fprintln(s.err, "warning:", warning)
	}
	store := session.New(session.Options{Dir: loaded.Config.App.DataDir, Inspect: true})
	return errors.Join(run(store), store.Close(ctx))
}

func newSessionsList(s streams) *cobra.Command {
	var flags sessionFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List a user's sessions, the one used last first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.withStore(c.Context(), s, func(store *session.Store) error {
				list, err := store.List(c.Context(), flags.user)
				if err != nil && !errors.Is(err, session.ErrNoFile) {
					return err
				}
				if flags.asJSON {
					return printSessionsJSON(s.out, list)
				}
				if len(list) == 0 {
					fmt.Fprintf(s.err, "no sessions are stored for user %s\n", cell(flags.user, nameWidth))
					return nil
				}
				return printSessions(s.out, list)
			})
		},
	}
	flags.add(c)
	flags.addJSON(c)
	return c
}

// printSessions prints a table for people.
func printSessions(w io.Writer, list []session.Summary) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "USER\tSESSION\tTURNS\tLAST USED\tFIRST WORDS")
	for _, one := range list {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", cell(one.User, nameWidth), cell(one.Session, nameWidth),
			one.Turns, one.Last.Local().Format(time.DateTime), cell(one.First, wordsWidth))
	}
	return table.Flush()
}

func newSessionsShow(s streams) *cobra.Command {
	var flags sessionFlags
	c := &cobra.Command{
		Use:   "show SESSION",
		Short: "Print what was said in a session",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.withStore(c.Context(), s, func(store *session.Store) error {
				turns, damaged, err := store.Turns(c.Context(), flags.user, args[0])
				if err == nil && len(turns)+len(damaged) == 0 {
					err = session.ErrNoFile
				}
				if err != nil {
					return noSession(err, flags.user, args[0])
				}
				for id, why := range damaged {
					fmt.Fprintf(s.err, "warning: turn %d can't be read: %s\n", id, why)
				}
				if flags.asJSON {
					return printTurnsJSON(s.out, flags.user, args[0], turns)
				}
				out := bufio.NewWriter(s.out)
				for i := range turns {
					printTurn(out, i+1, &turns[i])
				}
				return out.Flush()
			})
		},
	}
	flags.add(c)
	flags.addJSON(c)
	return c
}

// noSession says that there is no such session where that is the reason.
func noSession(err error, user, name string) error {
	if !errors.Is(err, session.ErrNoFile) {
		return err
	}
	return &failure{exitFailed, fmt.Sprintf("user %s has no session %s; sluice sessions list shows what there is", cell(user, nameWidth), cell(name, nameWidth))}
}

func newSessionsDelete(s streams) *cobra.Command {
	var flags sessionFlags
	var all bool
	c := &cobra.Command{
		Use:   "delete SESSION | --all",
		Short: "Delete a session, or all sessions of a user; memory forgets them, too",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return &failure{exitUsage, "name one session to delete, or give --all for every session of the user"}
			}
			return flags.withStore(c.Context(), s, func(store *session.Store) error {
				if all {
					return deleteAll(c.Context(), store, flags.user, s)
				}
				return deleteOne(c.Context(), store, flags.user, args[0], s)
			})
		},
	}
	flags.add(c)
	c.Flags().BoolVar(&all, "all", false, "delete every session of the user")
	return c
}

func deleteOne(ctx context.Context, store *session.Store, user, name string, s streams) error {
	turns, err := store.Delete(ctx, user, name)
	if err == nil && turns == 0 {
		err = session.ErrNoFile
	}
	if err != nil {
		return noSession(err, user, name)
	}
	_, err = fmt.Fprintf(s.out, "deleted session %s of user %s (%s)\n", cell(name, nameWidth), cell(user, nameWidth), numberOf(turns, "turn"))
	return err
}

// deleteAll deletes what it can and says of the rest why not.
func deleteAll(ctx context.Context, store *session.Store, user string, s streams) error {
	list, err := store.List(ctx, user)
	if err != nil && !errors.Is(err, session.ErrNoFile) {
		return err
	}
	failed := 0
	for _, one := range list {
		if err := deleteOne(ctx, store, user, one.Session, s); err != nil {
			failed++
			fmt.Fprintf(s.err, "session %s was not deleted: %v\n", cell(one.Session, nameWidth), err)
		}
	}
	if failed > 0 {
		return &failure{exitFailed, numberOf(failed, "session") + " could not be deleted"}
	}
	if len(list) == 0 {
		fmt.Fprintf(s.err, "no sessions are stored for user %s\n", cell(user, nameWidth))
	}
	return nil
}

func numberOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

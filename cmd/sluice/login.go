package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/config"
	"sluice/internal/wire"
)

// firstProfile is the name of a profile that is made without being given one.
const firstProfile = "default"

func newLogin(s streams) *cobra.Command {
	var flags accountFlags
	var server string
	var fromStdin bool
	c := &cobra.Command{
		Use:   "login [--server URL] EMAIL",
		Short: "Sign in at a gateway; the session is kept in the system's keychain",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.with(c.Context(), s, func(ctx context.Context, a *accounts, _ *config.Loaded) error {
				target, err := loginTarget(a, flags.profile, server)
				if err == nil && target.Local() {
					_, err = a.profiles.Login(ctx, target, args[0], "", nil) // says why not, before a password is asked for
				}
				if err != nil {
					return err
				}
				password, err := readPassword(ctx, s, fromStdin, target.ServerURL)
				if err != nil {
					return err
				}
				if server != "" {
					if target, err = a.profiles.Set(ctx, target.Name, server, nil); err != nil {
						return err
					}
				}
				status, err := a.profiles.Login(ctx, target, args[0], password, nil)
				if err != nil {
					return err
				}
				return printLogin(s.out, status, target.Current)
			})
		},
	}
	flags.add(c)
	flags.addProfile(c)
	c.Flags().StringVar(&server, "server", "", "address of the gateway, which the profile is set to")
	c.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from the first line of stdin")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if strings.Contains(err.Error(), "password") { // its words may repeat the value
			return errors.New("the password is no argument: leave it out to be asked for it, or give it on stdin with --password-stdin")
		}
		return err
	})
	return c
}

// loginTarget returns the profile to sign in at, with the address that it has or is to have. Of a server
// without a profile's name it is the one that has this address, else a first one.
func loginTarget(a *accounts, name, server string) (wire.Profile, error) {
	if server == "" {
		return a.profiles.Resolve(name)
	}
	address, err := gatewayPort{}.ServerURL(server)
	if err != nil || name != "" {
		return wire.Profile{Name: name, ServerURL: address}, err
	}
	list, err := a.profiles.List()
	if err != nil {
		return wire.Profile{}, err
	}
	gateways := 0
	for _, p := range list {
		if p.ServerURL == address {
			return p, nil
		}
		if !p.Local() {
			gateways++
		}
	}
	if gateways > 0 {
		return wire.Profile{}, &failure{exitUsage, "no profile has this server: give it a name with --profile"}
	}
	return wire.Profile{Name: firstProfile, ServerURL: address}, nil
}

func printLogin(w io.Writer, status wire.AuthStatus, current bool) error {
	note := ""
	if !current {
		note = "; sluice profile use " + status.Profile + " makes it the current profile"
	}
	_, err := fmt.Fprintf(w, "signed in as %s at %s (%s)%s\n", nameOf(status.User), status.Profile, stripped(status.ServerURL), note)
	return err
}

// nameOf is how a person is called.
func nameOf(user *wire.AuthUser) string {
	switch {
	case user == nil:
		return "somebody"
	case user.Username != "":
		return cell(user.Username, nameWidth)
	}
	return "user " + cell(user.UserID, nameWidth)
}

func newLogout(s streams) *cobra.Command {
	var flags accountFlags
	c := &cobra.Command{
		Use:   "logout",
		Short: "Sign out; the session leaves the keychain, whether or not the gateway answers",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.with(c.Context(), s, func(ctx context.Context, a *accounts, _ *config.Loaded) error {
				p, err := a.profiles.Resolve(flags.profile)
				if err != nil {
					return err
				}
				if err := a.profiles.Logout(ctx, p, nil); err != nil {
					return err
				}
				_, err = fmt.Fprintf(s.out, "signed out at %s (%s)\n", p.Name, stripped(p.ServerURL))
				return err
			})
		},
	}
	flags.add(c)
	flags.addProfile(c)
	return c
}

func newStatus(s streams) *cobra.Command {
	var flags accountFlags
	c := &cobra.Command{
		Use:   "status",
		Short: "Tell whether a session holds; the exit status is 1 when it doesn't",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.with(c.Context(), s, func(ctx context.Context, a *accounts, _ *config.Loaded) error {
				p, err := a.profiles.Resolve(flags.profile)
				if err != nil {
					return err
				}
				status, err := a.profiles.Status(ctx, p)
				if err != nil {
					return err
				}
				print := printStatus
				if flags.asJSON {
					print = printStatusJSON
				}
				if err := print(s.out, status); err != nil {
					return err
				}
				if !status.Authenticated {
					return &failure{status: exitFailed}
				}
				return nil
			})
		},
	}
	flags.add(c)
	flags.addProfile(c)
	flags.addJSON(c)
	return c
}

// reasons are why nobody is signed in, and what to do.
var reasons = map[wire.AuthReason]string{
	wire.AuthMissingSession: "nobody is signed in; sluice login signs in",
	wire.AuthInvalidSession: "the gateway ended the session; sluice login signs in again",
	wire.AuthNetwork:        "the gateway can't be asked; the session is kept, try again later",
}

func printStatus(w io.Writer, status wire.AuthStatus) error {
	where := status.Profile + " (" + stripped(status.ServerURL) + "): "
	if !status.Authenticated {
		_, err := fmt.Fprintln(w, where+reasons[status.Reason])
		return err
	}
	if status.User == nil {
		_, err := fmt.Fprintln(w, where+"the agents of the configuration, which need no sign-in")
		return err
	}
	_, err := fmt.Fprintln(w, where+"signed in as "+nameOf(status.User))
	for _, line := range [][]string{append([]string{"roles:"}, status.User.Roles...), append([]string{"permissions:"}, status.User.Permissions...)} {
		if err == nil && len(line) > 1 {
			_, err = fmt.Fprintln(w, stripped(strings.Join(line, " ")))
		}
	}
	return err
}

// statusJSON is the answer of auth/status, by the protocol.
type statusJSON struct {
	Profile       string          `json:"profile"`
	ServerURL     string          `json:"serverUrl"`
	Authenticated bool            `json:"authenticated"`
	User          *userJSON       `json:"user,omitempty"`
	Reason        wire.AuthReason `json:"reason,omitempty"`
}

type userJSON struct {
	UserID      string   `json:"userId"`
	Username    string   `json:"username"`
	IsSuperuser bool     `json:"isSuperuser"`
	Roles       []string `json:"roles"`
	Permissions []string `json:"permissions"`
}

func printStatusJSON(w io.Writer, status wire.AuthStatus) error {
	return json.NewEncoder(w).Encode(statusJSON{status.Profile, status.ServerURL, status.Authenticated, (*userJSON)(status.User), status.Reason})
}

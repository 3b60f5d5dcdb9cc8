package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"sluice/internal/keychain"
	"sluice/internal/wire"
	"sluice/sources/gateway"
	"sluice/stages/execute/profile"
)

// accounts are a user's profiles with the gateway's client and the keychain behind them.
type accounts struct {
	profiles *profile.Profiles
	client   *gateway.Client
}

type accountOptions struct {
	localAgents     bool          // a configuration of models exists
	keychainTimeout time.Duration // 0 is that of the keychain
	log             *slog.Logger
}

func newAccounts(o accountOptions) *accounts {
	client := gateway.NewClient(gateway.Options{UserAgent: "sluice/" + version, Logger: o.log})
	return &accounts{client: client, profiles: profile.New(profile.Options{
		LocalAgents: o.localAgents,
		Gateway:     gatewayPort{client},
		Keychain:    keychain.New(keychain.Options{Timeout: o.keychainTimeout}),
		Logger:      o.log,
	})}
}

// at returns the account of a profile that Resolve returned.
func (a *accounts) at(p wire.Profile) *gateway.Account {
	return a.client.Account(p.ServerURL, a.profiles.Session(p))
}

func (a *accounts) close() {
	a.profiles.Close()
	a.client.Close()
}

// gatewayPort is the gateway as the profiles see it.
type gatewayPort struct{ client *gateway.Client }

// ServerURL implements profile.Gateway.
func (gatewayPort) ServerURL(address string) (string, error) {
	return gateway.NormalizeServerURL(address)
}

// Login implements profile.Gateway.
func (g gatewayPort) Login(ctx context.Context, server, email, password string) (profile.Login, error) {
	login, err := g.client.Login(ctx, server, email, password)
	return profile.Login{Access: login.AccessToken, Refresh: login.RefreshToken, UserID: login.UserID, Username: login.Username}, err
}

// Validate implements profile.Gateway.
func (g gatewayPort) Validate(ctx context.Context, server, access, refresh string) (profile.Validation, error) {
	v, err := g.client.ValidateToken(ctx, server, access, refresh)
	user := wire.AuthUser{UserID: v.User.UserID, Username: v.User.Username, IsSuperuser: v.User.IsSuperuser, Roles: v.User.Roles, Permissions: v.User.Permissions}
	return profile.Validation{Valid: v.Valid, User: user, NewAccess: v.NewAccessToken}, err
}

// Refresh implements profile.Gateway.
func (g gatewayPort) Refresh(ctx context.Context, server, refresh string) (string, error) {
	return g.client.Refresh(ctx, server, refresh)
}

// Logout implements profile.Gateway.
func (g gatewayPort) Logout(ctx context.Context, server, access string) error {
	return g.client.Logout(ctx, server, access)
}

// asCommands names for people what faults name in the protocol's words.
var asCommands = strings.NewReplacer(
	"profile/list", "sluice profile list", "profile/set", "sluice profile set", "profile/use", "sluice profile use",
	"sign in first", "sign in with sluice login first", "sign in again", "sign in again with sluice login",
)

// forPeople turns a fault into its message and its exit status.
func forPeople(err error) error {
	var fault *wire.Fault
	switch {
	case errors.As(err, &fault):
		status := exitFailed
		if fault.Code == wire.CodeConfigInvalid || fault.Code == wire.CodeUsage {
			status = exitUsage
		}
		return &failure{status, asCommands.Replace(fault.Message)}
	case errors.Is(err, context.Canceled):
		return &failure{exitFailed, "interrupted"}
	}
	return err
}

package profile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"sluice/internal/wire"
)

// fakeKeychain is a keychain in memory, which engines may share.
type fakeKeychain struct {
	mu      sync.Mutex
	entries map[string]string
	failure error
	failSet error // of Set alone
}

func (k *fakeKeychain) Get(_ context.Context, account string) (string, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	value, found := k.entries[account]
	return value, found && k.failure == nil, k.failure
}

func (k *fakeKeychain) Set(_ context.Context, account, value string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := errors.Join(k.failure, k.failSet); err != nil {
		return err
	}
	k.entries[account] = value
	return nil
}

func (k *fakeKeychain) Delete(_ context.Context, account string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failure == nil {
		delete(k.entries, account)
	}
	return k.failure
}

func (k *fakeKeychain) all() map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.entries)
}

func (k *fakeKeychain) put(account, value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entries[account] = value
}

func (k *fakeKeychain) fail(all, set error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failure, k.failSet = all, set
}

// fakeGateway issues tokens as the contract says: a new access token revokes the one before. Its members
// are set before it is used, or under mu.
type fakeGateway struct {
	mu       sync.Mutex
	issued   int
	access   string // the one that holds
	refresh  string // "" for none that holds
	rotates  bool   // validations give a new token
	down     bool   // no call is answered
	noCheck  bool   // validations alone aren't answered
	calls    []string
	hold     chan struct{} // refreshes wait until it is closed
	signing  chan struct{} // sign-ins wait until it is closed, checks until checking is
	checking chan struct{}
}

func (g *fakeGateway) ServerURL(address string) (string, error) {
	if strings.Contains(address, "bad") {
		return "", wire.NewFault(wire.CodeConfigInvalid, "the address can't be used")
	}
	return strings.TrimRight(address, "/"), nil
}

// call notes a call, and fails it when the gateway is down.
func (g *fakeGateway) call(format string, args ...any) error {
	g.calls = append(g.calls, fmt.Sprintf(format, args...))
	if g.down {
		return errNetwork
	}
	return nil
}

func (g *fakeGateway) issue() string {
	g.issued++
	g.access = fmt.Sprintf("SECRET-access-%d", g.issued)
	return g.access
}

// enter notes a call and waits until held is closed, if it is set. The gateway is locked then.
func (g *fakeGateway) enter(held func() chan struct{}, format string, args ...any) error {
	g.mu.Lock()
	err, hold := g.call(format, args...), held()
	if hold != nil {
		g.mu.Unlock()
		<-hold
		g.mu.Lock()
	}
	return err
}

func (g *fakeGateway) Login(_ context.Context, server, mail, pass string) (Login, error) {
	err := g.enter(func() chan struct{} { return g.signing }, "login %s", server)
	defer g.mu.Unlock()
	if err != nil {
		return Login{}, err
	}
	if mail != email || pass != password {
		return Login{}, errRefused
	}
	g.refresh = "SECRET-refresh"
	return Login{Access: g.issue(), Refresh: g.refresh, UserID: "123", Username: "ann by login"}, nil
}

func (g *fakeGateway) Validate(_ context.Context, server, access, refresh string) (Validation, error) {
	err := g.enter(func() chan struct{} { return g.checking }, "validate %s %s %s", server, access, refresh)
	defer g.mu.Unlock()
	if err != nil || g.noCheck {
		return Validation{}, errors.Join(err, errNetwork)
	}
	v := Validation{Valid: access == g.access && access != ""}
	if v.Valid {
		v.User = ann
	}
	if g.rotates && refresh == g.refresh {
		v.NewAccess = g.issue()
	}
	return v, nil
}

func (g *fakeGateway) Refresh(ctx context.Context, server, refresh string) (string, error) {
	g.mu.Lock()
	hold := g.hold
	err := g.call("refresh %s %s", server, refresh)
	g.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		return "", err
	}
	if g.refresh == "" || refresh != g.refresh {
		return "", errRefused
	}
	return g.issue(), nil
}

func (g *fakeGateway) Logout(_ context.Context, server, access string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.call("logout %s %s", server, access)
}

// expire revokes the access token, and with all the refresh token too.
func (g *fakeGateway) expire(all bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.access = ""
	if all {
		g.refresh = ""
	}
}

// seen counts the calls of a kind.
func (g *fakeGateway) seen(kind string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, call := range g.calls {
		if strings.HasPrefix(call, kind) {
			n++
		}
	}
	return n
}

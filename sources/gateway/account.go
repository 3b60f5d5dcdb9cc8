package gateway

import (
	"context"
	"net/http"

	"github.com/tidwall/gjson"
)

// Session gives the tokens of one profile's session at its server; profiles implement it. Its methods
// may be called by any goroutine. Their errors are *wire.Fault (auth_required without a session,
// auth_invalid for one that the gateway ended, network_error while nothing is known) or the cause of ctx.
type Session interface {
	// Token returns the access token.
	Token(ctx context.Context) (string, error)
	// Refreshed returns an access token newer than stale, which the gateway has refused. Calls that
	// run at the same time share one refresh, and the new token is stored before anybody reads it.
	Refreshed(ctx context.Context, stale string) (string, error)
}

// Account is a session at one gateway.
type Account struct {
	client  *Client
	server  string
	session Session
}

// Account returns the account of a session. server is the address that the session belongs to, as
// NormalizeServerURL returns it: the session's token is sent there.
func (c *Client) Account(server string, session Session) *Account {
	return &Account{client: c, server: server, session: session}
}

// attempt sends with the session's token, and once more with a new one when the gateway answered 401.
// What the first attempt returned besides its status must need no closing then.
func attempt[T any](ctx context.Context, session Session, send func(token string) (got T, status int, err error)) (T, error) {
	var none T
	token, err := session.Token(ctx)
	if err != nil {
		return none, err
	}
	got, status, err := send(token)
	if err != nil || status != http.StatusUnauthorized {
		return got, err
	}
	fresh, err := session.Refreshed(ctx, token)
	if err != nil {
		return none, err
	}
	got, _, err = send(fresh)
	return got, err
}

// exchange is the client's, with the session's token.
func (a *Account) exchange(ctx context.Context, method, path string) (answer, error) {
	return attempt(ctx, a.session, func(token string) (answer, int, error) {
		got, err := a.client.exchange(ctx, call{method: method, server: a.server, path: path, token: token}, callLimit)
		return got, got.status, err
	})
}

// get returns the JSON object that a path answers.
func (a *Account) get(ctx context.Context, path string) (gjson.Result, error) {
	got, err := a.exchange(ctx, http.MethodGet, path)
	if err != nil {
		return gjson.Result{}, err
	}
	return got.object()
}

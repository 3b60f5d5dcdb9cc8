package profile

import (
	"context"

	"sluice/internal/wire"
)

// Keychain keeps secrets by account. Its calls are bounded in time. An error means that it can't be used,
// and says what to do, or is that of ctx.
type Keychain interface {
	Get(ctx context.Context, account string) (value string, found bool, err error)
	Set(ctx context.Context, account, value string) error
	// Delete removes an account's value; none there is no error.
	Delete(ctx context.Context, account string) error
}

// Gateway are the calls of a gateway that concern sessions. Their errors are *wire.Fault: auth_invalid for
// a refusal, which is the gateway's own word, anything else when nothing is known; or the cause of ctx.
type Gateway interface {
	// ServerURL makes one form of an address as people write it; a bad one is config_invalid.
	ServerURL(address string) (string, error)
	Login(ctx context.Context, serverURL, email, password string) (Login, error)
	// Validate asks whether a session holds. A refused session is no error but not valid.
	Validate(ctx context.Context, serverURL, access, refresh string) (Validation, error)
	// Refresh returns a new access token, which has revoked the one before.
	Refresh(ctx context.Context, serverURL, refresh string) (access string, err error)
	// Logout tells the gateway to forget a token; best effort.
	Logout(ctx context.Context, serverURL, access string) error
}

// Login is what a sign-in brought. Its tokens are secrets, which is why it can't be printed.
type Login struct {
	Veiled
	Access, Refresh  string
	UserID, Username string
}

// Validation is what a gateway says of a session. It can't be printed.
type Validation struct {
	Veiled
	Valid bool
	User  wire.AuthUser // of a valid session
	// NewAccess is a secret that replaces the access token, also when the session isn't valid; empty when
	// the token stays.
	NewAccess string
}

package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// Login is what a sign-in brought. It can't be printed.
type Login struct {
	veiled
	// AccessToken and RefreshToken are secrets: they belong into the keychain and nowhere else.
	// RefreshToken is empty when the gateway gave none.
	AccessToken, RefreshToken string
	UserID, Username          string
}

// Validation is what the gateway says of a stored session. It can't be printed.
type Validation struct {
	veiled
	Valid bool
	// User is set of a valid session.
	User wire.AuthUser
	// NewAccessToken replaces the access token, which is revoked, also when the session isn't valid;
	// empty when the token stays.
	NewAccessToken string
}

// Login signs in. Only a hash of the password leaves the process. A refusal is a *wire.Fault
// auth_invalid with the gateway's reason.
func (c *Client) Login(ctx context.Context, server, email, password string) (Login, error) {
	sum := sha256.Sum256([]byte(password))
	hash := hex.EncodeToString(sum[:])
	body := appendMember(nil, '{', "email", email)
	body = appendMember(body, ',', "password", hash)
	body = append(body, `,"token":null}`...)
	got, err := c.post(ctx, server, "/api/auth/login", body, hash)
	if err != nil {
		return Login{}, err
	}
	if got.status == http.StatusUnauthorized || got.status == http.StatusForbidden {
		return Login{}, got.noLogin()
	}
	result, err := got.object()
	if err != nil {
		return Login{}, err
	}
	login := Login{
		AccessToken: textOf(result.Get("access_token")), RefreshToken: textOf(result.Get("refresh_token")),
		UserID: textOf(result.Get("user_id")), Username: textOf(result.Get("username")),
	}
	if denied(result) || login.AccessToken == "" {
		return Login{}, got.noLogin()
	}
	return login, got.usable(login.AccessToken)
}

// noLogin is the fault of a refused sign-in, in the gateway's words.
func (a answer) noLogin() *wire.Fault {
	return a.fault(wire.CodeAuthInvalid, "the gateway refused the sign-in"+a.reason()+"; check the email address and the password")
}

// denied reports whether an answer says success:false.
func denied(result gjson.Result) bool { return result.Get("success").Type == gjson.False }

// ValidateToken asks whether a session still holds. refresh may be empty. An answer that refuses the
// session, whatever its form, is no error but not valid; an error means that nothing is known of it.
func (c *Client) ValidateToken(ctx context.Context, server, access, refresh string) (Validation, error) {
	body := appendMember(nil, '{', "token", access)
	if refresh != "" {
		body = appendMember(body, ',', "refresh_token", refresh)
	}
	got, err := c.post(ctx, server, "/api/auth/validate-token", append(body, '}'), access, refresh)
	if err != nil {
		return Validation{}, err
	}
	if got.status == http.StatusUnauthorized || got.status == http.StatusForbidden {
		return Validation{}, nil
	}
	result, err := got.object()
	if err != nil {
		return Validation{}, err
	}
	v := Validation{Valid: result.Get("valid").Type == gjson.True, NewAccessToken: textOf(result.Get("new_access_token"))}
	if v.Valid {
		v.User = readUser(result)
	}
	return v, got.usable(v.NewAccessToken)
}

func readUser(result gjson.Result) wire.AuthUser {
	return wire.AuthUser{
		UserID:      textOf(result.Get("user_id")),
		Username:    textOf(result.Get("username")),
		IsSuperuser: result.Get("is_superuser").Type == gjson.True,
		Roles:       textsOf(result.Get("roles")),
		Permissions: textsOf(result.Get("permissions")),
	}
}

// textsOf are the texts of an array, never nil.
func textsOf(array gjson.Result) []string {
	texts := []string{}
	for _, v := range array.Array() {
		if v.Type == gjson.String {
			texts = append(texts, v.String())
		}
	}
	return texts
}

// Refresh asks for a new access token, which revokes the one before at once; the refresh token stays. A
// refusal is a *wire.Fault auth_invalid; network_error means that the session may still hold.
func (c *Client) Refresh(ctx context.Context, server, refresh string) (access string, err error) {
	body := append(appendMember(nil, '{', "refresh_token", refresh), '}')
	got, err := c.post(ctx, server, "/api/auth/refresh", body, refresh)
	if err != nil {
		return "", err
	}
	if got.refusesRefresh() {
		return "", got.noRefresh()
	}
	result, err := got.object()
	if err != nil {
		return "", err
	}
	access = textOf(result.Get("access_token"))
	if denied(result) || access == "" {
		return "", got.noRefresh()
	}
	return access, got.usable(access)
}

// usable fails for an access token that no header can carry: one with spaces, control characters or anything
// beyond ASCII (RFC 6750, section 2.1).
func (a answer) usable(access string) error {
	if strings.ContainsFunc(access, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return a.fault(wire.CodeNetwork, "the gateway gave an access token that can't be sent back to it: it has spaces, control characters or letters beyond ASCII; tell its administrator")
	}
	return nil
}

// refusesRefresh reports whether a status is the gateway's word on the session: a 4xx is, but for those
// that only ask for patience.
func (a answer) refusesRefresh() bool {
	return a.status/100 == 4 && a.status != http.StatusRequestTimeout && a.status != http.StatusTooManyRequests
}

func (a answer) noRefresh() *wire.Fault {
	return a.fault(wire.CodeAuthInvalid, "the gateway ended the session"+a.reason()+"; sign in again")
}

// Logout tells the gateway to forget a token. It is best effort, and waits 8 s at the most: the local
// credentials go whatever it returns.
func (c *Client) Logout(ctx context.Context, server, access string) error {
	got, err := c.exchange(ctx, call{
		method: http.MethodPost, server: server, path: "/api/auth/logout",
		body: append(appendMember(nil, '{', "token", access), '}'), secrets: []string{access},
	}, logoutLimit)
	if err == nil && got.status/100 != 2 {
		return got.refused()
	}
	return err
}

// post sends a call that needs no session. secrets are what no message may repeat.
func (c *Client) post(ctx context.Context, server, path string, body []byte, secrets ...string) (answer, error) {
	return c.exchange(ctx, call{method: http.MethodPost, server: server, path: path, body: body, secrets: secrets}, callLimit)
}

// appendMember appends a member of an object whose value is text; before is the brace or comma.
func appendMember(dst []byte, before byte, name, value string) []byte {
	dst = append(append(append(dst, before, '"'), name...), '"', ':')
	return wire.AppendString(dst, value, false)
}

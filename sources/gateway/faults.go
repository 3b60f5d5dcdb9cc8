package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// longestReason bounds how much of the gateway's own words a message repeats, in characters.
const longestReason = 300

const (
	// redacted stands in a text where a secret was.
	redacted = "[redacted]"
	// shortestSecret keeps words such as "no" readable, in bytes.
	shortestSecret = 6
)

// tooSlow is why a call ended that got no answer in time.
type tooSlow struct{ limit time.Duration }

func (t *tooSlow) Error() string { return fmt.Sprintf("no answer within %s", t.limit) }

// refused turns an answer other than 2xx into a fault.
func (a answer) refused() *wire.Fault {
	switch status := a.status; {
	case status/100 == 3:
		return a.fault(wire.CodeNetwork, fmt.Sprintf("the gateway redirects to %s (HTTP %d), which is not followed; set the profile's serverUrl to where the gateway really is", hostOf(a.location), status))
	case status == http.StatusUnauthorized:
		return a.fault(wire.CodeAuthInvalid, "the gateway refused the session (HTTP 401)"+a.reason()+"; sign in again")
	case status == http.StatusForbidden:
		return a.fault(wire.CodeAuthInvalid, "the gateway refused the permission (HTTP 403)"+a.reason()+"; ask its administrator for it")
	case status == http.StatusNotFound:
		return a.fault(wire.CodeNotFound, "the gateway found nothing there (HTTP 404)"+a.reason()+"; check the name, and the profile's serverUrl")
	case status >= 500:
		return a.fault(wire.CodeNetwork, fmt.Sprintf("the gateway failed (HTTP %d)%s; try again later", status, a.reason()))
	}
	return a.fault(wire.CodeNetwork, fmt.Sprintf("the gateway refused the call (HTTP %d)%s", a.status, a.reason()))
}

func (a answer) fault(code wire.Code, message string) *wire.Fault {
	return &wire.Fault{Code: code, Message: message, Status: a.status}
}

// reason is what the body says, to stand behind a status; empty when it says nothing.
func (a answer) reason() string {
	if said := a.said(); said != "" {
		return ": " + said
	}
	return ""
}

// said is the body's detail, else its message, fit to be shown.
func (a answer) said() string {
	body, ok := objectIn(a.body)
	if !ok {
		return ""
	}
	for _, name := range []string{"detail", "message"} {
		if text := presentable(textOf(body.Get(name)), a.secrets); text != "" {
			return text
		}
	}
	return ""
}

// textOf is a JSON value as plain text: a string's own, nothing for null, else its JSON.
func textOf(v gjson.Result) string {
	switch v.Type {
	case gjson.String:
		return v.String()
	case gjson.Null:
		return ""
	}
	return v.Raw
}

// presentable makes foreign text fit for a message: one line of printable characters, bounded, and
// without the secrets of the call, which some servers repeat.
func presentable(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			text = strings.ReplaceAll(text, secret, redacted)
		}
	}
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > longestReason {
		text = string([]rune(text)[:longestReason]) + "…"
	}
	return text
}

// hostOf is the part of a redirect's target that may be shown.
func hostOf(location string) string {
	target, err := url.Parse(location)
	switch {
	case err != nil || location == "":
		return "somewhere else"
	case target.Host == "":
		return "another path"
	}
	return presentable(target.Scheme+"://"+target.Host, nil)
}

// explain names what ended a call: the cause of ctx when that ended, else the network's failure.
// limited is ctx with the call's own limit.
func explain(ctx, limited context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var slow *tooSlow
	if errors.As(context.Cause(limited), &slow) {
		return wire.NewFault(wire.CodeNetwork, fmt.Sprintf("the gateway gave no answer within %s; try again, and check the profile's serverUrl", slow.limit))
	}
	return unreachable(err)
}

// unreachable is the fault of a call that got no whole answer.
func unreachable(err error) *wire.Fault {
	switch {
	case errors.Is(err, errTooLarge):
		return wire.NewFault(wire.CodeNetwork, "the gateway's answer is larger than 16 MiB, which is not read: ask for less at once, or tell its administrator")
	case headersTooLarge(err):
		return wire.NewFault(wire.CodeNetwork, "the gateway's answer has headers of more than 256 KiB, which are not read: check the profile's serverUrl, or tell its administrator")
	}
	return wire.NewFault(wire.CodeNetwork, "the gateway can't be reached: "+reasonOf(err)+"; check the network and the profile's serverUrl")
}

// reasonOf says what is known of a network error, in words of ours: net/http's own repeat addresses, and
// a proxy's may hold a password.
func reasonOf(err error) string {
	var (
		name       *net.DNSError
		authority  x509.UnknownAuthorityError
		host       x509.HostnameError
		invalid    x509.CertificateInvalidError
		unverified *tls.CertificateVerificationError
		record     tls.RecordHeaderError
		operation  *net.OpError
		timeout    net.Error
	)
	switch {
	case errors.Is(err, errProxy), errors.As(err, &operation) && operation.Op == "proxyconnect":
		return "the proxy that the environment names can't be used"
	case errors.As(err, &name):
		return "the name of its host isn't known"
	case errors.As(err, &authority):
		return "its TLS certificate is of an authority that isn't trusted here"
	case errors.As(err, &host):
		return "its TLS certificate is for another host"
	case errors.As(err, &invalid), errors.As(err, &unverified):
		return "its TLS certificate isn't valid"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "it doesn't speak TLS; http:// may be right"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it didn't answer in time"
	case errors.Is(err, errTooLarge):
		return "its answer is larger than 16 MiB"
	case headersTooLarge(err):
		return "the headers of its answer are larger than 256 KiB"
	case errors.Is(err, errBadRequest):
		return "its address can't be used"
	case strings.Contains(err.Error(), "malformed"):
		return "what answers there doesn't speak HTTP"
	}
	return "the connection was lost"
}

// headersTooLarge recognizes net/http's errors of headers beyond maxHeaderBytes, which have no type: that of
// HTTP/1 and that of HTTP/2.
func headersTooLarge(err error) bool {
	text := err.Error()
	return strings.Contains(text, "response headers exceeded") || strings.Contains(text, "response header list larger")
}

package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// StopRun asks the gateway to stop the run of a conversation and says what came of it. The error is
// the session's when there is none to ask with, or the cause of ctx; all else is the reason error.
func (a *Account) StopRun(ctx context.Context, interactionID string) (wire.StopReason, error) {
	if interactionID == "." || interactionID == ".." { // in a path it would mean another one
		return wire.StopNotRunning, nil
	}
	got, err := a.exchange(ctx, http.MethodPost, "/api/agentflow/execute/stop/"+url.PathEscape(interactionID))
	if cause := context.Cause(ctx); cause != nil {
		return wire.StopError, cause
	}
	switch {
	case noSession(err):
		return wire.StopError, err
	case err != nil:
		return wire.StopError, nil
	case got.status == http.StatusNotFound:
		return wire.StopNotRunning, nil
	case got.status == http.StatusConflict:
		return wire.StopElsewhere, nil
	}
	if result, err := got.object(); err != nil || result.Get("stopped").Type != gjson.True {
		return wire.StopError, nil
	}
	return wire.StopDone, nil
}

// noSession reports whether a call failed because the profile has no session that can be read.
func noSession(err error) bool {
	var fault *wire.Fault
	return errors.As(err, &fault) && (fault.Code == wire.CodeAuthRequired || fault.Code == wire.CodeCredentialStore)
}

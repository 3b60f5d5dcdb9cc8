package llama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Ping asks a running server once whether it serves chats, with its key. The error tells what is wrong, or is
// the cause of ctx. Only Dial, URL and APIKey of the options count.
func Ping(ctx context.Context, o ServerOptions) error {
	endpoint, _, fault := attachEndpoint(o)
	if fault != nil {
		return errors.New(fault.Message)
	}
	defer endpoint.Client.CloseIdleConnections()
	status, _, err := endpoint.get(ctx, "/props", endpoint.Key, maxProbeBody)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("it refuses the key (HTTP %d)", status)
	case status == http.StatusServiceUnavailable:
		return errors.New("it is still loading its model")
	case status > http.StatusInternalServerError:
		return fmt.Errorf("it answered HTTP %d", status)
	}
	return nil // also 404: other servers speak the same chat protocol without /props
}

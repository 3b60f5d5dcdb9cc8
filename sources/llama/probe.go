package llama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// maxProbeBody is enough for /props with a long chat template, and for the slots of a big server.
const maxProbeBody = 4 << 20

func readLimited(r io.Reader, limit int64) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, limit))
}

// pause waits d, or less when ctx ends or stop closes; it reports whether to go on.
func pause(ctx context.Context, stop <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	case <-ctx.Done():
		return false
	}
}

// awaitLoaded asks a spawned server's /health, which needs no key, until the model is loaded: a 503
// says that it is loading. loading is called at the first 503. It reports false when ctx ended or stop
// closed before.
func (e Endpoint) awaitLoaded(ctx context.Context, stop <-chan struct{}, loading func()) bool {
	for wait := 5 * time.Millisecond; pause(ctx, stop, wait); wait = min(2*wait, 50*time.Millisecond) {
		status, _, err := e.get(ctx, "/health", "", maxProbeBody)
		switch {
		case err != nil:
		case status == http.StatusServiceUnavailable:
			loading()
		default:
			return true
		}
	}
	return false
}

// validJSON reports whether a server's answer is JSON that gjson can read.
func validJSON(body []byte) bool { return !wire.TooDeep(body) && gjson.ValidBytes(body) }

// props is what /props tells of a server.
type props struct {
	slots       int // at least 1
	contextSize int // of a slot in tokens; 0 when it isn't told
}

// readProps reads the answer of /props, valid JSON or not.
func readProps(body []byte) props {
	if !validJSON(body) {
		return props{slots: 1}
	}
	return props{
		slots:       max(int(gjson.GetBytes(body, "total_slots").Int()), 1),
		contextSize: tokenCount(gjson.GetBytes(body, "default_generation_settings"), "n_ctx"),
	}
}

// errNotOurs says that what answers didn't pass the proof.
var errNotOurs = errors.New("it answered")

// prove asks a route that needs the key, once with a wrong one and once with the right one. Who
// answers 401 and then 200 knows the key, which only the server that we started was given.
//
// The proof is against mistakes (another program took the address, a wrapper that drops the key and so
// leaves the server open to all), not against an impostor of the same user, who could read our memory.
func (e Endpoint) prove(ctx context.Context, wrong string) (props, error) {
	status, _, err := e.get(ctx, "/props", wrong, maxProbeBody)
	if err != nil {
		return props{}, err
	}
	if status != http.StatusUnauthorized {
		return props{}, fmt.Errorf("%w: HTTP %d, not 401, to a wrong key", errNotOurs, status)
	}
	status, body, err := e.get(ctx, "/props", e.Key, maxProbeBody)
	if err != nil {
		return props{}, err
	}
	if status != http.StatusOK {
		return props{}, fmt.Errorf("%w: HTTP %d, not 200, to the key it was given", errNotOurs, status)
	}
	if !validJSON(body) {
		return props{}, fmt.Errorf("%w: no JSON at /props", errNotOurs)
	}
	return readProps(body), nil
}

// check asks an attached server whether it is ready for us, waiting while it loads its model. name is
// how to call it in messages. What it tells of itself is only known without a fault.
func (e Endpoint) check(ctx context.Context, name string, loading func()) (props, *wire.Fault) {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		status, body, err := e.get(ctx, "/props", e.Key, maxProbeBody)
		switch {
		case context.Cause(ctx) != nil:
			return props{}, nil // the caller knows why
		case err != nil:
			return props{}, startFault("llama-server at %s can't be reached: %v; is it running? start it, or correct llama_server.url", name, err)
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			return props{}, startFault("llama-server at %s refuses the key (HTTP %d); set llama_server.api_key to the one it was started with", name, status)
		case status == http.StatusServiceUnavailable:
			loading()
		case status > http.StatusInternalServerError:
			return props{}, startFault("llama-server at %s answered HTTP %d; look at its log", name, status)
		default: // also 404: other servers speak the same chat protocol without /props
			return readProps(body), nil
		}
		if !pause(ctx, nil, wait) {
			return props{}, nil
		}
	}
}

// busySlots counts the slots that work; ok is false when the server doesn't tell.
func (e Endpoint) busySlots(ctx context.Context) (busy int, ok bool) {
	status, body, err := e.get(ctx, "/slots", e.Key, maxProbeBody)
	if err != nil || status != http.StatusOK {
		return 0, false
	}
	var slots []struct {
		Processing bool `json:"is_processing"`
	}
	if json.Unmarshal(body, &slots) != nil {
		return 0, false
	}
	for _, slot := range slots {
		if slot.Processing {
			busy++
		}
	}
	return busy, true
}

package keychain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// Service is the name under which all entries are kept.
const Service = "xgen-dex-cli"

const (
	defaultTimeout = 10 * time.Second
	parallelReads  = 3
	// largestValue is what one account may hold, in bytes: more is no session any more.
	largestValue = 64 << 10
)

// Options of a Keychain. The zero value is the keychain of the operating system.
type Options struct {
	// Timeout of one call, the wait for earlier ones included; 0 stands for 10 s. A person who is asked to
	// unlock the keychain has that long, and the next call finds it unlocked.
	Timeout time.Duration
}

// Keychain is the operating system's keychain.
type Keychain struct {
	backend backend
	timeout time.Duration
	// reads and changes hold a token for each call under way, abandoned ones included.
	reads, changes chan struct{}
}

// backend are the calls of the system that are used; they block for as long as they like.
type backend interface {
	get(account string) (string, error) // errNotFound when there is none
	set(account, value string) error
	remove(account string) error // errNotFound when there is none
}

var errNotFound = keyring.ErrNotFound

// Unavailable says why the keychain couldn't be used and what to do about it. It holds no secret.
type Unavailable struct{ message string }

// Error tells what to do.
func (u *Unavailable) Error() string { return u.message }

// New returns the keychain of the operating system, which is not touched before the first call.
func New(o Options) *Keychain { return newKeychain(split{system{}, largestEntry}, o) }

func newKeychain(b backend, o Options) *Keychain {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return &Keychain{b, o.Timeout, make(chan struct{}, parallelReads), make(chan struct{}, 1)}
}

// Get returns the value of an account, found false when there is none. Every error is an *Unavailable or
// that of ctx.
func (k *Keychain) Get(ctx context.Context, account string) (value string, found bool, err error) {
	value, err = k.call(ctx, k.reads, func() (string, error) { return k.backend.get(account) })
	if errors.Is(err, errNotFound) {
		return "", false, nil
	}
	return value, err == nil, err
}

// Set stores the value of an account, at most 64 KiB, in place of an earlier one. When it fails the earlier
// one may still be there. Errors are those of Get.
func (k *Keychain) Set(ctx context.Context, account, value string) error {
	if len(value) > largestValue {
		return &Unavailable{fmt.Sprintf("the server's tokens are too long for the keychain (%d bytes, at most %d): ask its administrator for shorter ones", len(value), largestValue)}
	}
	_, err := k.call(ctx, k.changes, func() (string, error) { return "", k.backend.set(account, value) })
	return err
}

// Delete removes the value of an account; none there is no error. Errors are those of Get.
func (k *Keychain) Delete(ctx context.Context, account string) error {
	_, err := k.call(ctx, k.changes, func() (string, error) { return "", k.backend.remove(account) })
	if errors.Is(err, errNotFound) {
		return nil
	}
	return err
}

type outcome struct {
	value string
	err   error
}

// call runs a function of the system and waits for it as long as it may take. The slot is free again when
// the function returns, whoever waits for it.
func (k *Keychain) call(ctx context.Context, slots chan struct{}, run func() (string, error)) (string, error) {
	timer := time.NewTimer(k.timeout)
	defer timer.Stop()
	select {
	case slots <- struct{}{}:
	case <-timer.C:
		return "", &Unavailable{"the keychain still waits for an answer to an earlier question: answer its dialog (it may be behind other windows), or restart this program"}
	case <-ctx.Done():
		return "", ctx.Err()
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-slots }()
		value, err := guarded(run)
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, explained(o.err)
	case <-timer.C:
		return "", &Unavailable{fmt.Sprintf("the keychain didn't answer within %s: %s", k.timeout, unlockAdvice)}
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// guarded runs a function of the library, which panics when the session bus goes away while a dialog is
// open.
func guarded(run func() (string, error)) (value string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the connection to it broke off")
		}
	}()
	return run()
}

// explained makes an error of the system one that says what to do.
func explained(err error) error {
	if err == nil || errors.Is(err, errNotFound) {
		return err
	}
	return &Unavailable{fmt.Sprintf("the keychain can't be used (%s): %s", oneLine(err.Error()), advice)}
}

package profile

import (
	"context"
	"errors"

	"sluice/internal/wire"
)

// codeOf returns the code of a *wire.Fault, "" of any other error.
func codeOf(err error) wire.Code {
	var fault *wire.Fault
	if errors.As(err, &fault) {
		return fault.Code
	}
	return ""
}

// refused reports whether an error is a gateway's own word.
func refused(err error) bool { return codeOf(err) == wire.CodeAuthInvalid }

func usage(message string) *wire.Fault { return wire.NewFault(wire.CodeUsage, message) }

func signInFirst(name string) *wire.Fault {
	return wire.NewFault(wire.CodeAuthRequired, "nobody is signed in at the profile "+name+": sign in first")
}

// keychainFault makes a keychain's error the protocol's.
func keychainFault(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return wire.NewFault(wire.CodeCredentialStore, err.Error())
}

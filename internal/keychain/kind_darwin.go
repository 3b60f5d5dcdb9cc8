package keychain

import "context"

// Kind says which keychain there is.
func Kind(context.Context) (string, error) { return "the macOS Keychain", nil }

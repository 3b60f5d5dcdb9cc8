//go:build darwin || windows

package keychain

const (
	// largestEntry is what one entry holds, in bytes. Windows' Credential Manager takes 2,560
	// (CRED_MAX_CREDENTIAL_BLOB_SIZE of wincred.h); macOS' security takes lines of 4,096 characters, in
	// which the value stands in base64 beside the account's name.
	largestEntry = 2048
	unlockAdvice = "unlock it (its dialog may be behind other windows) and try again"
	advice       = "unlock your keychain, allow the access, and try again"
)

// reachable reports nothing: these systems always have a keychain.
func reachable() error { return nil }

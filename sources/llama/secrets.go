package llama

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"

	"sluice/internal/secret"
)

// envKey is where llama-server reads its key (llama-server --help, --api-key).
const envKey = "LLAMA_API_KEY"

// newKey returns a random key of 256 bits.
func newKey() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // crypto/rand.Read never fails
	return hex.EncodeToString(random[:])
}

// childEnvironment is a server's environment: a clean one with the key.
func childEnvironment(ours []string, key string) []string {
	return append(cleanEnvironment(ours), envKey+"="+key)
}

// cleanEnvironment is ours less what configures us, less what would configure llama-server behind our
// back, and less its key: SLUICE_*, LLAMA_ARG_* and LLAMA_API_KEY.
func cleanEnvironment(ours []string) []string {
	env := make([]string, 0, len(ours)+1)
	for _, entry := range ours {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "SLUICE_") && !strings.HasPrefix(name, "LLAMA_ARG_") && name != envKey {
			env = append(env, entry)
		}
	}
	return env
}

// shortestSecret keeps harmless words such as "true" in the log.
const shortestSecret = 6

// redactor returns a function that takes the key, and secrets known by the names of their variables
// and options, out of a line.
func redactor(key string, env, args []string) func(string) string {
	hidden := []string{key}
	for _, texts := range [][]string{env, args} {
		for _, s := range secret.Spans(texts) {
			hidden = append(hidden, texts[s.Argument][s.Start:s.End])
		}
	}
	// The longest first, lest one that begins as another leave its rest.
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, value := range hidden {
		if len(value) >= shortestSecret {
			pairs = append(pairs, value, redacted)
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

// redacted stands in a text where a secret was.
const redacted = "[redacted]"

// hideKey takes the key out of a text.
func hideKey(text, key string) string {
	if len(key) < shortestSecret {
		return text
	}
	return strings.ReplaceAll(text, key, redacted)
}

package llama

import (
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strings"
)

// envKey is where llama-server reads its key (llama-server --help, --api-key).
const envKey = "LLAMA_API_KEY"

// newKey returns a random key of 256 bits.
func newKey() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // crypto/rand.Read never fails
	return hex.EncodeToString(random[:])
}

// childEnvironment is ours less what configures us, and less what would configure llama-server behind
// our back: SLUICE_* and LLAMA_ARG_*.
func childEnvironment(ours []string, key string) []string {
	env := make([]string, 0, len(ours)+1)
	for _, entry := range ours {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "SLUICE_") && !strings.HasPrefix(name, "LLAMA_ARG_") && name != envKey {
			env = append(env, entry)
		}
	}
	return append(env, envKey+"="+key)
}

// secretName matches variables and flags whose values must not be shown.
var secretName = regexp.MustCompile(`(?i)(token|secret|passw|credential|api[-_]?key|access[-_]?key|private[-_]?key)|^-hft$`)

// shortestSecret keeps harmless words such as "true" in the log.
const shortestSecret = 6

// redactor returns a function that takes the key, and secrets known by the names of their variables
// and flags, out of a line.
func redactor(key string, env, args []string) func(string) string {
	var pairs []string
	hide := func(value string) {
		if len(value) >= shortestSecret {
			pairs = append(pairs, value, "[redacted]")
		}
	}
	hide(key)
	for _, entry := range env {
		if name, value, _ := strings.Cut(entry, "="); secretName.MatchString(name) {
			hide(value)
		}
	}
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !strings.HasPrefix(name, "-") || !secretName.MatchString(name) {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		hide(value)
	}
	return strings.NewReplacer(pairs...).Replace
}

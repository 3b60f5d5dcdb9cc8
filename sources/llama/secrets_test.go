package llama

import (
	"slices"
	"testing"
)

func TestRedactor(t *testing.T) {
	env := []string{"HF_TOKEN=hf_abcdef", "HOME=/home/somebody", "DB_PASSWORD=swordfish", "API_TOKEN=yes", "EMPTY_SECRET=", "OPENAI_KEY=hf_abcdefghi", "DB=postgres://me:letmein@host/db"}
	args := []string{"--hf-token", "from-flag", "--api-key=joined-key", "--threads", "threads-value", "-hft"}
	redact := redactor("0123456789abcdef", env, args)
	for line, want := range map[string]string{
		"key 0123456789abcdef, again 0123456789abcdef":         "key [redacted], again [redacted]",
		"token hf_abcdef of /home/somebody":                    "token [redacted] of /home/somebody",
		"swordfish from-flag joined-key letmein threads-value": "[redacted] [redacted] [redacted] [redacted] threads-value",
		"yes, nothing":                          "yes, nothing",
		"one begins as the other: hf_abcdefghi": "one begins as the other: [redacted]",
	} {
		if got := redact(line); got != want {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
	}
}

func TestChildEnvironment(t *testing.T) {
	ours := []string{"PATH=/bin", "SLUICE_LOG_LEVEL=debug", "LLAMA_ARG_HOST=0.0.0.0", "LLAMA_API_KEY=theirs", "LLAMA_CACHE=/c", "_SLUICE_CHILD_1=1"}
	want := []string{"PATH=/bin", "LLAMA_CACHE=/c", "_SLUICE_CHILD_1=1", "LLAMA_API_KEY=ours"}
	if got := childEnvironment(ours, "ours"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

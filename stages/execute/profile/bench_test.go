package profile

import (
	"fmt"
	"log/slog"
	"testing"
)

// BenchmarkResolve is what choosing the profile costs each request: config.json is read anew.
func BenchmarkResolve(b *testing.B) {
	p := New(Options{Dir: b.TempDir(), Gateway: &fakeGateway{}, Keychain: &fakeKeychain{entries: map[string]string{}}, Logger: slog.New(slog.DiscardHandler)})
	defer p.Close()
	for i := range 10 {
		if _, err := p.Set(nothing, fmt.Sprint("profile-", i), server, nil); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := p.Resolve(""); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSet is a change of config.json, with its locks and its syncs.
func BenchmarkSet(b *testing.B) {
	p := New(Options{Dir: b.TempDir(), Gateway: &fakeGateway{}, Keychain: &fakeKeychain{entries: map[string]string{}}})
	defer p.Close()
	for i := 0; b.Loop(); i++ {
		if _, err := p.Set(nothing, "corp", fmt.Sprint(server, "/", i), nil); err != nil {
			b.Fatal(err)
		}
	}
}

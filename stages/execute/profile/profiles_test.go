package profile

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"sluice/internal/wire"
)

func wantList(t *testing.T, p *Profiles, want ...wire.Profile) {
	t.Helper()
	list, err := p.List()
	if err != nil || !slices.Equal(list, want) || list == nil {
		t.Errorf("List = %+v, %v, want %+v", list, err, want)
	}
}

func TestSetUseAndList(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	wantList(t, p)
	if got := w.set(p, "corp", "https://a.example.com/base///"); got != (wire.Profile{Name: "corp", ServerURL: "https://a.example.com/base", Current: true}) {
		t.Errorf("Set = %+v", got)
	}
	if got := w.set(p, "Lab.2_x-y", "http://localhost:8000"); got.Current {
		t.Errorf("the second profile became the current one: %+v", got)
	}
	wantList(t, p, wire.Profile{Name: "Lab.2_x-y", ServerURL: "http://localhost:8000"}, wire.Profile{Name: "corp", ServerURL: "https://a.example.com/base", Current: true})
	used, err := p.Use(nothing, "Lab.2_x-y")
	if err != nil || used != (wire.Profile{Name: "Lab.2_x-y", ServerURL: "http://localhost:8000", Current: true}) {
		t.Errorf("Use = %+v, %v", used, err)
	}
	if got := w.set(p, "corp", "https://b.example.com"); got.Current {
		t.Errorf("a changed profile became the current one: %+v", got)
	}
	_, err = p.Use(nothing, "nobody")
	wantCode(t, err, wire.CodeNotFound)
	wantList(t, w.engine(), wire.Profile{Name: "Lab.2_x-y", ServerURL: "http://localhost:8000", Current: true}, wire.Profile{Name: "corp", ServerURL: "https://b.example.com"})
}

func TestBadNamesAndAddresses(t *testing.T) {
	w := newWorld(t)
	p := w.engine()
	for _, name := range []string{"", "-x", ".x", "a b", "../x", "a/b", strings.Repeat("a", 65), "é", "x\n", "local"} {
		_, err := p.Set(nothing, name, server, nil)
		wantCode(t, err, wire.CodeConfigInvalid)
	}
	_, err := p.Set(nothing, "x", "bad", nil)
	wantCode(t, err, wire.CodeConfigInvalid)
	wantList(t, p)
	w.set(p, strings.Repeat("a", 64), server)
}

func TestResolve(t *testing.T) {
	const one = `{"currentProfile":"a","profiles":{"a":{"serverUrl":"https://a"},"b":{"serverUrl":"bad"}}}`
	local := wire.Profile{Name: "local", ServerURL: "local:", Current: true}
	for _, c := range []struct {
		name, file, ask string
		agents          bool
		want            wire.Profile
		code            wire.Code
	}{
		{"nothing set", ``, "", false, wire.Profile{}, wire.CodeConfigInvalid},
		{"nothing set, agents here", ``, "", true, local, ""},
		{"local by name", ``, "local", false, wire.Profile{Name: "local", ServerURL: "local:"}, ""},
		{"local by name beside another", one, "local", true, wire.Profile{Name: "local", ServerURL: "local:"}, ""},
		{"the current one", one, "", true, wire.Profile{Name: "a", ServerURL: "https://a", Current: true}, ""},
		{"by name", one, "a", false, wire.Profile{Name: "a", ServerURL: "https://a", Current: true}, ""},
		{"unknown", one, "nobody", true, wire.Profile{}, wire.CodeNotFound},
		{"bad address in the file", one, "b", true, wire.Profile{}, wire.CodeConfigInvalid},
		{"no current one", `{"profiles":{"a":{"serverUrl":"https://a"}}}`, "", true, wire.Profile{}, wire.CodeConfigInvalid},
		{"the current one is gone", `{"currentProfile":"x","profiles":{}}`, "", true, wire.Profile{}, wire.CodeConfigInvalid},
		{"local is the current one", `{"currentProfile":"local","profiles":{"local":{},"a":{"serverUrl":"https://a"}}}`, "", false, local, ""},
		{"damaged", `{`, "", true, wire.Profile{}, wire.CodeConfigInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.file != "" {
				w.write(c.file)
			}
			got, err := w.engineWith(Options{LocalAgents: c.agents}).Resolve(c.ask)
			if got != c.want || codeOf(err) != c.code {
				t.Errorf("Resolve = %+v, %v, want %+v, %q", got, err, c.want, c.code)
			}
		})
	}
}

func TestLocalIsListedOnceItWasChosen(t *testing.T) {
	w := newWorld(t)
	p := w.engineWith(Options{LocalAgents: true})
	wantList(t, p)
	local := wire.Profile{Name: "local", ServerURL: "local:", Current: true}
	if used, err := p.Use(nothing, "local"); used != local || err != nil {
		t.Fatalf("Use = %+v, %v", used, err)
	}
	wantList(t, p, local)
	if w.set(p, "corp", server).Current {
		t.Error("a profile took the place of the chosen one")
	}
	if _, err := p.Use(nothing, "corp"); err != nil {
		t.Fatal(err)
	}
	local.Current = false
	wantList(t, p, wire.Profile{Name: "corp", ServerURL: server, Current: true}, local)
	for _, call := range []func() error{
		func() error { _, err := login(p, "local", password); return err },
		func() error { return logout(p, "local") },
		func() error {
			got, err := status(p, "local")
			if !got.Authenticated || got.ServerURL != "local:" || got.Profile != "local" || got.User != nil || got.Reason != "" {
				t.Errorf("Status = %+v", got)
			}
			return err
		},
	} {
		if err := call(); err != nil && codeOf(err) != wire.CodeUsage {
			t.Error(err)
		}
	}
	_, err := login(p, "local", password)
	wantCode(t, err, wire.CodeUsage)
	if len(w.gateway.calls) > 0 {
		t.Errorf("the gateway was called: %q", w.gateway.calls)
	}
}

func TestAnotherServerForgetsTheSession(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	w.set(p, "corp", server+"/") // the same
	if len(w.keychain.all()) != 1 {
		t.Fatal("the session of an unchanged profile was forgotten")
	}
	w.set(p, "corp", "https://other.example.com")
	if left := w.keychain.all(); len(left) != 0 {
		t.Errorf("the keychain still holds %q", slices.Collect(maps.Keys(left)))
	}
	w.keychain.fail(errNetwork, nil)
	w.set(p, "corp", server) // works without a keychain
}

func TestUnknownMembersAreKept(t *testing.T) {
	w := newWorld(t)
	w.write(`{"version":1,"theme":{"big":12345678901234567890,"text":"<&>\u2028"},"currentProfile":"a",
		"profiles":{"a":{"serverUrl":"https://a","color":"red"},"-odd":{"x":1}},"localTools":{"enabled":true,"later":[1]}}`)
	p := w.engine()
	w.set(p, "a", "https://new")
	w.set(p, "b", server)
	cwd := w.dir
	if _, err := p.Configure(nothing, wire.LocalToolsChange{CWD: &cwd}); err != nil {
		t.Fatal(err)
	}
	wantList(t, p, wire.Profile{Name: "a", ServerURL: "https://new", Current: true}, wire.Profile{Name: "b", ServerURL: server})
	text := w.file()
	for _, kept := range []string{`"big": 12345678901234567890`, `"color": "red"`, `"-odd"`, `"later"`, `<&>`, `"enabled": true`} {
		if !strings.Contains(text, kept) {
			t.Errorf("%s is gone from %s", kept, text)
		}
	}
	var decoded struct {
		Version        int
		CurrentProfile string
		Profiles       map[string]struct{ Name, ServerURL string }
	}
	if err := json.Unmarshal([]byte(text), &decoded); err != nil || decoded.Version != 1 || decoded.CurrentProfile != "a" || decoded.Profiles["b"].ServerURL != server {
		t.Errorf("%v: %s", err, text)
	}
}

package secret

import (
	"slices"
	"strings"
	"testing"
)

func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"HF_TOKEN": true, "--hf-token": true, "-hft": true, "OPENAI_KEY": true, "x-api-key": true, "apiKey": true, "DB_PASSWORD": true,
		"Authorization": true, "--auth": true, "Cookie": true, "SSH_PASSPHRASE": true, "AWS_SECRET_ACCESS_KEY": true,
		"PWD": false, "HOME": false, "--author": false, "KEYBOARD": false, "--keep": false, "-ngl": false, "": false, "monkeys2": false,
	} {
		if Named(name) != want {
			t.Errorf("%q: %v, want %v", name, !want, want)
		}
	}
}

// In each command line the secret is spelled hunter2, and nothing else is one.
func TestSpans(t *testing.T) {
	for _, args := range [][]string{
		{"--hf-token", "hunter2", "--threads", "4"},
		{"--HF-Token=hunter2"},
		{"-hft", "hunter2", "-hft"},
		{"run", "-e", "GITHUB_TOKEN=hunter2", "image"},
		{"mcp-remote", "https://host/mcp", "--header", "Authorization: Bearer hunter2"},
		{"--header=X-Api-Key: hunter2"},
		{"-HAuthorization:hunter2"},
		{"server-postgres", "postgresql://user:hunter2@host:5432/db"},
		{"https://host/mcp?x=1&api_key=hunter2"},
		{"DB=db://user:hunter2@host/a?sslkey=hunter2"},
		{"db://a:hunter2@host,db://b:hunter2@host"},
		{"TOKEN=hunter2", "PATH=/bin"},
		{"--token", "hunter2", "--token=hunter2"},
		{"--threads", "4", "https://host:8080/x", "-v", "/home/me:/data", "--author=me", "--token"},
		{"--token="},
		nil,
	} {
		var got []string
		for _, s := range Spans(args) {
			got = append(got, args[s.Argument][s.Start:s.End])
		}
		want := slices.Repeat([]string{"hunter2"}, strings.Count(strings.Join(args, " "), "hunter2"))
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}

func FuzzSpans(f *testing.F) {
	f.Add("--token\n=x\nTOKEN=x")
	f.Add("a://b:c@d\nx: Bearer \n=:=:")
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\n")
		for _, s := range Spans(args) {
			if s.Start < 0 || s.Start >= s.End || s.End > len(args[s.Argument]) {
				t.Errorf("%q: %+v", args, s)
			}
		}
	})
}

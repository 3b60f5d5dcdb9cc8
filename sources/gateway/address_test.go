package gateway

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"sluice/internal/wire"
)

func TestNormalizeServerURL(t *testing.T) {
	for given, want := range map[string]string{
		"https://a.example.com":           "https://a.example.com",
		"https://a.example.com/base///":   "https://a.example.com/base",
		"HTTPS://A.Example.com:8443/Base": "https://a.example.com:8443/Base",
		" xgen.example.com \n":            "https://xgen.example.com",
		"xgen.example.com:8443/x/":        "https://xgen.example.com:8443/x",
		"localhost":                       "http://localhost",
		"LocalHost:8000/":                 "http://localhost:8000",
		"localhost.example.com":           "https://localhost.example.com",
		"127.0.0.1:9":                     "http://127.0.0.1:9",
		"127.0.0.11":                      "https://127.0.0.11",
		"[::1]:8000":                      "http://[::1]:8000",
		"[::1]":                           "http://[::1]",
		"https://localhost":               "https://localhost",
		"http://10.0.0.1/a%2Fb":           "http://10.0.0.1/a%2Fb",
		"https://x.example.com:":          "https://x.example.com",
	} {
		got, err := NormalizeServerURL(given)
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", given, got, err, want)
		}
		if again, err := NormalizeServerURL(got); err != nil || again != got {
			t.Errorf("%q: again it is %q, %v", given, again, err)
		}
	}
}

func TestNormalizeServerURLRefuses(t *testing.T) {
	for _, given := range []string{
		"", "https://", "http:///x", "//x", "ftp://x.example.com", "https://u:TOPSECRET@x.example.com", "TOPSECRET@x", "https://x/?TOPSECRET=1",
		"https://x/?", "https://x/#TOPSECRET", "https://x/#", "https://x:TOPSECRET", "https://x:0", "https://x:99999", "https://x y/TOPSECRET",
		"https://[::1", "https://a\\b", "https://x/\x00TOPSECRET", "mailto:TOPSECRET", "https://:443", "https://x/%zzTOPSECRET",
	} {
		got, err := NormalizeServerURL(given)
		var fault *wire.Fault
		if !errors.As(err, &fault) || fault.Code != wire.CodeConfigInvalid || strings.Contains(fault.Message, "TOPSECRET") {
			t.Errorf("%q: got %q, %v", given, got, err)
		}
	}
}

// FuzzNormalizeServerURL: what was made one form stays as it is.
func FuzzNormalizeServerURL(f *testing.F) {
	f.Add("localhost:8000/")
	f.Add("HTTPS://[::1%25eth0]:1/%2f//")
	f.Add("x.example.com")
	f.Add("0/@")
	f.Fuzz(func(t *testing.T, given string) {
		got, err := NormalizeServerURL(given)
		if err != nil {
			return
		}
		if again, err := NormalizeServerURL(got); err != nil || again != got {
			t.Errorf("%q became %q, then %q, %v", given, got, again, err)
		}
		if parsed, err := url.Parse(got); err != nil || parsed.User != nil || strings.ContainsAny(got, "?# \n") || strings.HasSuffix(got, "/") {
			t.Errorf("%q became %q", given, got)
		}
	})
}

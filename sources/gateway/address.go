package gateway

import (
	"net/url"
	"strconv"
	"strings"

	"sluice/internal/wire"
)

// localHosts are the hosts that get http where an address names no scheme.
var localHosts = []string{"localhost", "127.0.0.1", "[::1]"}

// NormalizeServerURL makes one form of a gateway's address as people write it: with a scheme, https where
// none was named (http for this machine), the host in lower case, without slashes at the end. What isn't
// http or https, or has user information, a query or a fragment, is a *wire.Fault config_invalid, whose
// message repeats nothing of the address but its scheme, since the rest may hold a secret.
func NormalizeServerURL(address string) (string, error) {
	address = strings.TrimSpace(address)
	scheme, rest, named := strings.Cut(address, "://")
	if !named {
		scheme, rest = defaultScheme(address), address
	}
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" {
		return "", badAddress("it must begin with https:// or http://")
	}
	if strings.ContainsAny(rest, "?#") {
		return "", badAddress("it must have neither a query (?) nor a fragment (#)")
	}
	parsed, err := url.Parse(scheme + "://" + rest)
	switch {
	case err != nil:
		return "", badAddress("write it as https://host or https://host:port")
	case parsed.User != nil:
		return "", badAddress("it must hold no user name or password; sign in instead")
	case parsed.Hostname() == "" || !goodPort(parsed):
		return "", badAddress("write it as https://host or https://host:port")
	}
	parsed.Host = strings.ToLower(strings.TrimSuffix(parsed.Host, ":"))
	return strings.TrimRight(parsed.String(), "/"), nil
}

func defaultScheme(address string) string {
	host, _, _ := strings.Cut(address, "/")
	for _, local := range localHosts {
		name := host[:min(len(host), len(local))]
		if rest := host[len(name):]; strings.EqualFold(name, local) && (rest == "" || rest[0] == ':') {
			return "http"
		}
	}
	return "https"
}

func goodPort(address *url.URL) bool {
	port := address.Port()
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n > 0 && n <= 65535
}

func badAddress(what string) *wire.Fault {
	return wire.NewFault(wire.CodeConfigInvalid, "this is no address of a gateway: "+what)
}

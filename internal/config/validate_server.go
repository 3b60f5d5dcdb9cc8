package config

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// DemoURL is the llama_server.url that serves the embedded model.
const DemoURL = "demo:"

func (s LlamaServer) checks() []check {
	checks := []check{
		{"llama_server.url", validServerURL(s.URL), "must be http://host:port, https://host:port, unix:///path or demo:, without user, query or fragment"},
		{"llama_server.binary", s.Binary != "", "must not be empty"},
		noNUL("llama_server.binary", s.Binary),
		{"llama_server.api_key", printable(s.APIKey), "must not hold spaces, control or non-ASCII characters"},
		positive("llama_server.startup_timeout", s.StartupTimeout),
	}
	for i, arg := range s.Args {
		at := fmt.Sprintf("llama_server.args[%d]", i)
		option := refusedOption(arg)
		checks = append(checks, check{at, option == "", option + " is set by the engine and can't be given here"}, noNUL(at, arg))
	}
	return checks
}

// refusedOption returns the option in arg that only the engine may give, or "". llama-server reads
// underscores in long options as hyphens.
func refusedOption(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	name = strings.ReplaceAll(name, "_", "-")
	switch {
	case strings.HasPrefix(name, "--api-key"):
		return "--api-key"
	case name == "--host", name == "--port", name == "--api-prefix":
		return name
	}
	return ""
}

func validServerURL(text string) bool {
	if text == "" || text == DemoURL {
		return true
	}
	if path, found := strings.CutPrefix(text, "unix://"); found {
		return len(path) > 1 && path[0] == '/' && !strings.Contains(path, "\x00")
	}
	return validHTTP(text) && !strings.Contains(text, "?")
}

// validHTTP refuses what would put a password into logs (user:password@) along with other schemes.
func validHTTP(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	_, err = strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16)
	return err == nil && u.Hostname() != "" && u.User == nil && !strings.Contains(text, "#")
}

// printable reports whether a key can stand in a header as a bearer token.
func printable(key string) bool {
	return !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

// mayName reports whether a glob may name a tool of the server: whether what stands before its first
// wildcard allows it.
func mayName(glob, server string) bool {
	prefix, literal := server+"/", glob
	at := strings.IndexAny(glob, "*?")
	if at < 0 {
		return len(glob) > len(prefix) && strings.HasPrefix(glob, prefix)
	}
	literal = glob[:at]
	return strings.HasPrefix(prefix, literal) || strings.HasPrefix(literal, prefix)
}

// approvalChecks keep a list that was meant to protect tools from protecting none of them unnoticed.
func approvalChecks(at, server string, globs []string) []check {
	var checks []check
	for i, glob := range globs {
		checks = append(checks, check{fmt.Sprintf("%s[%d]", at, i), mayName(glob, server),
			"names no tool of this server: they are named " + server + "/TOOL"})
	}
	return checks
}

func (c *Config) mcpChecks() []check {
	names := make([]string, 0, len(c.MCPServers))
	for name := range c.MCPServers {
		names = append(names, name)
	}
	slices.Sort(names)
	var checks []check
	for _, name := range names {
		at := join("mcp_servers", name)
		checks = append(checks, check{at, validServerName(name), "a server's name must be made of letters, digits, - _ and ."})
		checks = append(checks, c.MCPServers[name].checks(at)...)
		checks = append(checks, approvalChecks(at+".requires_approval", name, c.MCPServers[name].RequiresApproval.Globs)...)
	}
	return checks
}

// A tool is named server/tool, so a server's name holds no slash, and nothing that a glob reads.
func validServerName(name string) bool {
	return name != "" && onlyOf(name, nameCharacters)
}

const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

func (s MCPServer) checks(at string) []check {
	local := s.Command != ""
	checks := []check{
		{at, local != (s.URL != ""), "must have either a command or a url"},
		{at + ".args", local || len(s.Args) == 0, "needs a command"},
		{at + ".cwd", local || s.Cwd == "", "needs a command"},
		{at + ".env", local || len(s.Env) == 0, "needs a command"},
		{at + ".headers", !local || len(s.Headers) == 0, "needs a url"},
		{at + ".url", s.URL == "" || validHTTP(s.URL), "must be http://… or https://…, without user or fragment (use headers)"},
		noNUL(at+".command", s.Command),
		noNUL(at+".cwd", s.Cwd),
		positive(at+".timeout", s.Timeout),
	}
	for i, arg := range s.Args {
		checks = append(checks, noNUL(fmt.Sprintf("%s.args[%d]", at, i), arg))
	}
	for name, value := range s.Env {
		ok := name != "" && !strings.ContainsAny(name, "=\x00") && !strings.Contains(value, "\x00")
		checks = append(checks, check{at + ".env", ok, "a variable's name must not hold =, and nothing a NUL character"})
	}
	for name, value := range s.Headers {
		ok := validHeaderName(name) && !strings.ContainsFunc(value, unicode.IsControl)
		checks = append(checks, check{at + ".headers", ok, "a header's name must be a token and its value one line"})
	}
	return append(checks, globChecks(at+".requires_approval", s.RequiresApproval.Globs)...)
}

// validHeaderName accepts a token of RFC 9110, section 5.6.2.
func validHeaderName(name string) bool {
	return name != "" && onlyOf(name, tokenCharacters)
}

const tokenCharacters = nameCharacters + "!#$%&'*+^`|~"

func onlyOf(text, characters string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(characters, r) })
}

package main

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"sluice/internal/config"
	"sluice/internal/secret"
)

const (
	// shortestNamed is the least length of a secret that is hidden where its name says that it is one;
	// shortestUnnamed that of any other value, lest words such as "true" vanish from messages.
	shortestNamed   = 4
	shortestUnnamed = 8
	// hiddenText stands in a text where a secret was.
	hiddenText = "[redacted]"
)

// serverRedactor returns what takes an MCP server's secrets out of a text: the values of its variables
// and headers, and what its arguments and URL give away.
func serverRedactor(server config.MCPServer) func(string) string {
	var hidden []string
	hide := func(name, value string) {
		if len(value) >= shortestUnnamed || len(value) >= shortestNamed && secret.Named(name) {
			hidden = append(hidden, value, url.QueryEscape(value), inJSON(value))
		}
	}
	for name, value := range server.Env {
		hide(name, value)
	}
	for name, value := range server.Headers {
		hide(name, value)
		if _, credentials, found := strings.Cut(value, " "); found { // after the scheme
			hide(name, strings.TrimSpace(credentials))
		}
	}
	for _, span := range secret.Spans(server.Args) {
		hide("secret", server.Args[span.Argument][span.Start:span.End])
	}
	for name, values := range queryOf(server.URL) {
		for _, value := range values {
			if secret.Named(name) {
				hide(name, value)
			}
		}
	}
	return replacer(hidden)
}

// replacer replaces texts, the longest first, lest one that begins as another leave its rest.
func replacer(hidden []string) func(string) string {
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, value := range hidden {
		pairs = append(pairs, value, hiddenText)
	}
	return strings.NewReplacer(pairs...).Replace
}

func queryOf(text string) url.Values {
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	return u.Query()
}

// inJSON is a text as it stands in a JSON string.
func inJSON(text string) string {
	quoted, _ := json.Marshal(text) // a string always encodes
	return string(quoted[1 : len(quoted)-1])
}

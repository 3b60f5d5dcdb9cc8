package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"sluice/internal/wire"
)

const (
	// maxFunction is the OpenAI API's limit for function names in bytes.
	maxFunction = 64
	// hashDigits stand at the end of a name that had to be changed.
	hashDigits = 10
)

// functionName is what a model calls the tool server/tool by: server__tool where that is allowed and
// can't be another tool's, else a name made fit that ends in a hash of the tool's own. So it depends on
// nothing but the tool's name. salt, empty at first, gives another hash.
func functionName(server, tool, salt string) string {
	name := server + "__" + tool
	// The first __ must be the one in the middle: a__b/c and a/b__c are two tools.
	plain := !strings.Contains(server, "__") && !strings.HasSuffix(server, "_") && salt == ""
	fit := strings.Map(fitRune, name)
	if plain && fit == name && len(name) <= maxFunction {
		return name
	}
	sum := sha256.Sum256([]byte(server + "/" + tool + salt))
	return fit[:min(len(fit), maxFunction-hashDigits-1)] + "_" + hex.EncodeToString(sum[:])[:hashDigits]
}

// fitRune replaces what a function's name can't hold.
func fitRune(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return r
	}
	return '_'
}

// distinguish makes the function names of tools, which are sorted by name, unique. Only hashes that are
// alike, by chance or by design, ever need it.
func distinguish(tools []wire.Tool) {
	seen := make(map[string]bool, len(tools))
	for i := range tools {
		tool := &tools[i]
		server, own, _ := strings.Cut(tool.Name, "/")
		for salt := 0; seen[tool.Function]; salt++ {
			tool.Function = functionName(server, own, "#"+strconv.Itoa(salt))
		}
		seen[tool.Function] = true
	}
}

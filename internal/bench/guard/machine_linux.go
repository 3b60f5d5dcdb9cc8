package guard

import (
	"os"
	"strings"
)

// processor returns the model of the first processor in /proc/cpuinfo. Hypervisors hide model
// names behind that of a whole family of processors, so the numbers behind it are added.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return unknownProcessor
	}
	return parseProcessor(string(text))
}

func parseProcessor(text string) string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); found && fields[name] == "" {
			fields[name] = strings.TrimSpace(value)
		}
	}
	// x86 has a name, family and model; ARM an implementer and a part
	var parts []string
	for _, field := range []struct{ name, label string }{
		{"model name", ""}, {"cpu family", "family "}, {"model", "model "},
		{"CPU implementer", "implementer "}, {"CPU part", "part "},
	} {
		if fields[field.name] != "" {
			parts = append(parts, field.label+fields[field.name])
		}
	}
	if len(parts) == 0 {
		return unknownProcessor
	}
	return strings.Join(parts, " ")
}

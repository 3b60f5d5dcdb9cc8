package config

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// variablePrefix starts the variables that override single values.
const variablePrefix = "SLUICE_"

// parsers read the types that aren't plain scalars.
var parsers = map[reflect.Type]env.ParserFunc{
	reflect.TypeFor[int64](): func(text string) (any, error) { return ParseSize(text) },
	// The library knows durations, but its messages quote the value.
	reflect.TypeFor[time.Duration](): func(text string) (any, error) { return ParseDuration(text) },
}

// override sets what SLUICE_ variables name. An empty variable counts as not set. Variables are set
// one by one, so that an error can name its variable.
func (l *loading) override() error {
	known, err := knownVariables()
	if err != nil {
		return &Error{Reason: "the variables of the configuration can't be listed"}
	}
	for _, name := range l.overriding() {
		if !known[name] {
			l.loaded.Warnings = append(l.loaded.Warnings, oneLine(name+": unknown variable, ignored"))
			continue
		}
		options := env.Options{
			Environment: map[string]string{name: l.vars[name]},
			Prefix:      variablePrefix,
			FuncMap:     parsers,
		}
		if err := env.ParseWithOptions(&l.loaded.Config, options); err != nil {
			return &Error{Key: name, Reason: parseReason(err)}
		}
		l.set = append(l.set, name)
		l.loaded.Found = true
	}
	return nil
}

// overriding lists, sorted, the variables with our prefix that hold something.
func (l *loading) overriding() []string {
	var names []string
	for name, value := range l.vars {
		ours := strings.HasPrefix(name, variablePrefix) && name != fileVariable
		if ours && value != "" && !slices.Contains(l.options.Ignore, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func knownVariables() (map[string]bool, error) {
	fields, err := env.GetFieldParamsWithOptions(&Config{}, env.Options{Prefix: variablePrefix})
	known := make(map[string]bool, len(fields))
	for _, field := range fields {
		known[field.Key] = true
	}
	return known, err
}

// parseReason says what would be right; the library's texts quote the value.
func parseReason(err error) string {
	var parse env.ParseError
	if !errors.As(err, &parse) {
		return "can't be set"
	}
	for _, reason := range []error{errSize, errDuration, errNegative, errTooLarge} {
		if errors.Is(parse.Err, reason) {
			return reason.Error()
		}
	}
	switch {
	case parse.Type.Kind() == reflect.Bool:
		return errBool.Error()
	case errors.Is(parse.Err, strconv.ErrRange):
		return errTooLarge.Error()
	}
	return errCount.Error()
}

// variableOf returns the variable that overrides the key at path: output.on_full, SLUICE_OUTPUT_ON_FULL.
func variableOf(path string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

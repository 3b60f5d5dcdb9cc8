package config

import (
	"bytes"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/secret"
)

// mask stands for a secret that is set; an empty one is shown as "".
const mask = "****"

// Masked returns the configuration as YAML that Load reads back, secrets replaced by "****". Sizes
// and durations are in their human form. The caller owns the bytes.
func (c *Config) Masked() []byte {
	var p printer
	p.structure(0, reflect.ValueOf(*c))
	return p.out.Bytes()
}

// String is Masked, so that printing a Config tells no secret.
func (c Config) String() string { return string(c.Masked()) }

// LogValue is Masked, so that logging a Config, in JSON too, tells no secret.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// printer writes block YAML, two spaces a level, in the order of the structure's fields.
type printer struct{ out bytes.Buffer }

func (p *printer) indent(depth int) { p.out.WriteString(strings.Repeat("  ", depth)) }

func (p *printer) structure(depth int, value reflect.Value) {
	for i := range value.NumField() {
		field := value.Type().Field(i)
		p.indent(depth)
		p.out.WriteString(field.Tag.Get("yaml") + ":")
		p.value(depth, masked(field.Tag, value.Field(i)))
	}
}

// value writes what follows a colon, with its line end.
func (p *printer) value(depth int, value reflect.Value) {
	if text, ok := scalarText(value); ok {
		p.out.WriteString(" " + text + "\n")
		return
	}
	switch {
	case value.Kind() == reflect.Struct:
		p.out.WriteString("\n")
		p.structure(depth+1, value)
	case value.Len() == 0 && value.Kind() == reflect.Map:
		p.out.WriteString(" {}\n")
	case value.Len() == 0:
		p.out.WriteString(" []\n")
	case value.Kind() == reflect.Map:
		p.out.WriteString("\n")
		p.mapping(depth+1, value)
	default:
		p.out.WriteString("\n")
		p.sequence(depth+1, value)
	}
}

func (p *printer) mapping(depth int, value reflect.Value) {
	keys := value.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		p.indent(depth)
		p.out.WriteString(quote(key.String()) + ":")
		p.value(depth, value.MapIndex(key))
	}
}

// sequence writes "- " before each element, a structure's first field included.
func (p *printer) sequence(depth int, value reflect.Value) {
	for i := range value.Len() {
		element := value.Index(i)
		if _, scalar := scalarText(element); scalar {
			p.indent(depth)
			p.out.WriteString("-")
			p.value(depth, element)
			continue
		}
		var inner printer
		inner.structure(depth+1, element)
		p.indent(depth)
		p.out.WriteString("- ")
		p.out.Write(inner.out.Bytes()[2*(depth+1):])
	}
}

// scalarText returns value on one line; false for what needs several.
func scalarText(value reflect.Value) (string, bool) {
	switch v := value.Interface().(type) {
	case time.Duration:
		return FormatDuration(v), true
	case int64:
		return FormatSize(v), true
	case int:
		return strconv.Itoa(v), true
	case bool:
		return strconv.FormatBool(v), true
	case string:
		return quote(v), true
	case GPULayers:
		return string(v), true
	case *float64:
		if v == nil {
			return "null", true
		}
		return strconv.FormatFloat(*v, 'f', -1, 64), true
	case Approval:
		return approvalText(v), true
	}
	return "", false
}

func approvalText(a Approval) string {
	if a.All || len(a.Globs) == 0 {
		return strconv.FormatBool(a.All)
	}
	quoted := make([]string, len(a.Globs))
	for i, glob := range a.Globs {
		quoted[i] = quote(glob)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// plain are texts that YAML reads as strings without quotes, less those that mean something else.
var (
	plain    = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*$`)
	reserved = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
)

// quote writes a string as YAML. Go's escapes are among those of YAML's double quotes (YAML 1.2.2,
// section 5.7).
func quote(text string) string {
	if plain.MatchString(text) && !slices.Contains(reserved, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

// masked returns value without what its field's tag calls secret.
func masked(tag reflect.StructTag, value reflect.Value) reflect.Value {
	switch v := value.Interface().(type) {
	case string:
		if tag.Get("secret") != "" {
			return reflect.ValueOf(maskText(v))
		}
		if before, query, found := strings.Cut(v, "?"); found && tag.Get("secretquery") != "" {
			return reflect.ValueOf(before + "?" + maskText(query))
		}
	case map[string]string:
		if tag.Get("secret") != "" {
			return reflect.ValueOf(maskMap(v))
		}
	case []string:
		if tag.Get("maskargs") != "" {
			return reflect.ValueOf(maskArgs(v))
		}
	}
	return value
}

func maskText(text string) string {
	if text == "" {
		return ""
	}
	return mask
}

func maskMap(values map[string]string) map[string]string {
	result := make(map[string]string, len(values))
	for key, value := range values {
		result[key] = maskText(value)
	}
	return result
}

// maskArgs hides the secrets of a command line.
func maskArgs(args []string) []string {
	result := slices.Clone(args)
	for _, s := range slices.Backward(secret.Spans(args)) { // so that what is before stays where it was
		arg := result[s.Argument]
		result[s.Argument] = arg[:s.Start] + mask + arg[s.End:]
	}
	return result
}

// ShownArgs are Args with the secrets masked.
func (l *LlamaServer) ShownArgs() []string { return maskArgs(l.Args) }

package profile

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden stands where a secret would be printed.
const hidden = "[hidden]"

// Veiled hides what embeds it from every verb of fmt, from slog and from encoders.
type Veiled struct{}

// Format prints that something is hidden.
func (Veiled) Format(s fmt.State, _ rune) { io.WriteString(s, hidden) }

// LogValue tells that something is hidden.
func (Veiled) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText tells that something is hidden.
func (Veiled) MarshalText() ([]byte, error) { return []byte(hidden), nil }

package gateway

import (
	"fmt"
	"io"
	"log/slog"
)

// veiled hides what embeds it, since it holds tokens: from fmt, slog and encoders.
type veiled struct{}

// Format implements fmt.Formatter.
func (veiled) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redacted) }

// LogValue implements slog.LogValuer.
func (veiled) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler.
func (veiled) MarshalText() ([]byte, error) { return []byte(redacted), nil }

//go:build !linux

package doctor

import (
	"context"
	"errors"
)

// FindOrphans can't look into the environment of processes here: errors.ErrUnsupported.
func FindOrphans(context.Context, string, string, []string) ([]Process, error) {
	return nil, errors.ErrUnsupported
}

//go:build !linux && !darwin

package guard

import (
	"cmp"
	"os"
)

// processor is what Windows tells every process of its processor.
func processor() string { return cmp.Or(os.Getenv("PROCESSOR_IDENTIFIER"), unknownProcessor) }

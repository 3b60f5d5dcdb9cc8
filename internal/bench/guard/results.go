package guard

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/perf/benchfmt"
)

// ratioUnit is the unit of ratios in the results.
const ratioUnit = "ratio"

// writeResults writes all readings in Go's benchmark format, which benchstat reads: one line a
// figure and round, with the ratio and the engine's own value.
func (g *guarding) writeResults() error {
	if g.options.Results == "" {
		return nil
	}
	file, err := os.Create(g.options.Results)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	err = writeReadings(buffered, g.verdict.Machine, g.readings)
	return errors.Join(err, buffered.Flush(), file.Close())
}

func writeReadings(output io.Writer, m Machine, readings []Reading) error {
	writer := benchfmt.NewWriter(output)
	config := []benchfmt.Config{
		{Key: "goos", Value: []byte(runtime.GOOS), File: true},
		{Key: "goarch", Value: []byte(runtime.GOARCH), File: true},
		{Key: "cpu", Value: []byte(m.Processor), File: true},
	}
	for _, r := range readings {
		result := &benchfmt.Result{
			Config: config, Name: benchfmt.Name(fmt.Sprintf("Guard/%s-%d", r.Figure, m.Cores)), Iters: 1,
			Values: []benchfmt.Value{{Value: r.Ratio, Unit: ratioUnit}, {Value: r.Value, Unit: r.Unit}},
		}
		if err := writer.Write(result); err != nil {
			return err
		}
	}
	return nil
}

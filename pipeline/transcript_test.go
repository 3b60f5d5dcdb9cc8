package pipeline

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"sluice/internal/testkit"
)

// TestTranscripts plays the recorded conversations of testdata.
func TestTranscripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		archive, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(name), func(t *testing.T) { testkit.RunTranscript(t, archive, startEngine) })
	}
}

func startEngine(in io.Reader, out io.Writer) (wait func() error) {
	p := graph(context.Background(), in, out, &scriptedModels{}, nil)
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run(context.Background())
		ended <- err
	}()
	return func() error { return <-ended }
}

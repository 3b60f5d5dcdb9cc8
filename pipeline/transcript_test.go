package pipeline

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"sluice/internal/testkit"
	"sluice/stages/execute"
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
		t.Run(filepath.Base(name), func(t *testing.T) {
			testkit.RunTranscript(t, archive, func(in io.Reader, out io.Writer) (wait func() error) {
				return startEngine(in, out, engineOf(filepath.Base(name)))
			})
		})
	}
}

// engineOf returns what an archive's engines have besides the model: those of whole turns have tools and
// sessions, that of memory.txtar a memory, too. Those of jsonrpc_*.txtar speak JSON-RPC.
func engineOf(archive string) func(*Options) {
	switch archive {
	case "chat.txtar", "control.txtar", "progress.txtar":
		return nil
	case "plan.txtar":
		return planned
	case "jsonrpc_control.txtar", "jsonrpc_gateway.txtar":
		return rpc
	}
	return func(o *Options) {
		sessions := newMemorySessions()
		o.Execute.Tools, o.Execute.Sessions = &scriptedTools{}, sessions
		o.Execute.MaxParseErrors, o.Execute.ToolResultBytes = 1, 101
		own := []string{"s/*"}
		o.Execute.Agents = []execute.Agent{
			{Name: "assistant", Model: "m", MaxSteps: 4, Tools: own}, {Name: "late", Model: "m", MaxSteps: 4, Tools: []string{"late/*"}},
			{Name: "bare", Model: "m", MaxSteps: 4}, {Name: "small", Model: "small", SystemPrompt: "be brief"},
			{Name: "strict", Model: "strict", SystemPrompt: "be brief"}, {Name: "growing", Model: "strict", MaxSteps: 4, Tools: own},
		}
		if archive == "jsonrpc_local.txtar" {
			rpc(o)
		}
		if archive == "memory.txtar" {
			o.Execute.Memory = scriptedMemory{sessions}
		}
	}
}

func startEngine(in io.Reader, out io.Writer, change func(*Options)) (wait func() error) {
	p := graph(context.Background(), in, out, &scriptedModels{}, change)
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run(context.Background())
		ended <- err
	}()
	return func() error { return <-ended }
}

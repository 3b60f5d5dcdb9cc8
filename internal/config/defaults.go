package config

import "time"

const (
	kib = 1 << 10
	mib = 1 << 20
)

// Names that stand where the configuration gives none.
const (
	defaultModel = "default"
	defaultAgent = "assistant"
)

// Default returns the configuration of an empty file: no model, no agent, every limit set.
func Default() Config {
	return Config{
		LlamaServer: LlamaServer{Binary: "llama-server", StartupTimeout: 120 * time.Second},
		App: App{
			MaxParseErrors: 3, MaxParallelChats: 16,
			ApprovalTimeout: 2 * time.Minute, ToolResultBytes: 64 * kib,
		},
		Memory: Memory{Enabled: true, TopK: 5},
		Input:  Input{MaxLineBytes: 16 * mib, MaxPendingRequests: 1024, MaxPendingBytes: 64 * mib},
		Output: Output{
			OnFull: OnFullCoalesce, PendingBytes: 64 * mib, MergeBytes: 32 * kib,
			QueueFrames: 1024, GuaranteedBytes: 64 * mib,
			ShutdownTimeout: 2 * time.Second, EOFTimeout: 30 * time.Second,
			StallThreshold: 250 * time.Millisecond,
		},
		Log: Log{Level: "info", Format: "text"},
	}
}

// defaulter is an element of a list or map that starts from defaults of its own.
type defaulter interface{ setDefaults() }

func (m *Model) setDefaults() {
	*m = Model{Name: defaultModel, GPULayers: GPULayersAuto}
}

func (a *Agent) setDefaults() {
	*a = Agent{Name: defaultAgent, MaxSteps: 8, Tools: []string{"*"}}
}

// A server that says nothing about approval needs one for every tool: the safe side.
func (s *MCPServer) setDefaults() {
	*s = MCPServer{RequiresApproval: Approval{All: true}, Timeout: time.Minute}
}

// complete adds the models and agents that follow from what is given: with a server to attach to, a
// model for every name that an agent uses; with any model, an agent and each agent's model.
func (c *Config) complete() {
	if c.LlamaServer.URL != "" && len(c.Models) == 0 {
		c.Models = modelsOf(c.Agents)
	}
	if len(c.Models) == 0 {
		return
	}
	if len(c.Agents) == 0 {
		c.Agents = make([]Agent, 1)
		c.Agents[0].setDefaults()
	}
	for i := range c.Agents {
		if c.Agents[i].Model == "" {
			c.Agents[i].Model = c.Models[0].Name
		}
	}
}

// modelsOf returns a model without a file for each name that the agents use, at least one.
func modelsOf(agents []Agent) []Model {
	var models []Model
	seen := map[string]bool{}
	add := func(name string) {
		if name == "" || seen[name] {
			return
		}
		seen[name] = true
		var model Model
		model.setDefaults()
		model.Name = name
		models = append(models, model)
	}
	for _, agent := range agents {
		add(agent.Model)
	}
	if len(models) == 0 {
		add(defaultModel)
	}
	return models
}

package config

import "time"

// Config is the whole configuration. Fields of type int64 are byte sizes, fields of type int are
// counts; the decoder relies on that. The env tags spell the variables that override single values
// (with the prefix SLUICE_); lists of structures and maps can't be overridden.
type Config struct {
	LlamaServer LlamaServer          `yaml:"llama_server" envPrefix:"LLAMA_SERVER_"`
	Models      []Model              `yaml:"models" env:"-"`
	Agents      []Agent              `yaml:"agents" env:"-"`
	MCPServers  map[string]MCPServer `yaml:"mcp_servers" env:"-"`
	App         App                  `yaml:"app" envPrefix:"APP_"`
	Memory      Memory               `yaml:"memory" envPrefix:"MEMORY_"`
	LocalTools  LocalTools           `yaml:"local_tools" envPrefix:"LOCAL_TOOLS_"`
	Input       Input                `yaml:"input" envPrefix:"INPUT_"`
	Output      Output               `yaml:"output" envPrefix:"OUTPUT_"`
	Log         Log                  `yaml:"log" envPrefix:"LOG_"`
	Debug       Debug                `yaml:"debug" envPrefix:"DEBUG_"`
}

// LlamaServer says which llama-server answers: a running one (URL) or one that we spawn (Binary).
type LlamaServer struct {
	URL            string        `yaml:"url" env:"URL"`                         // "", http(s)://host:port, unix:///path or demo:
	Binary         string        `yaml:"binary" env:"BINARY"`                   // a name on PATH, or an absolute path after Load
	APIKey         string        `yaml:"api_key" env:"API_KEY" secret:"true"`   // bearer for URL
	Args           []string      `yaml:"args" env:"ARGS" maskargs:"true"`       // added last to a spawned server's command
	StartupTimeout time.Duration `yaml:"startup_timeout" env:"STARTUP_TIMEOUT"` // until the model is loaded; > 0
	IdleTimeout    time.Duration `yaml:"idle_timeout" env:"IDLE_TIMEOUT"`       // 0 keeps an unused server for ever
}

// Model is one model file, or with llama_server.url the name that is sent as "model".
type Model struct {
	Name      string    `yaml:"name"`
	Path      string    `yaml:"path"`       // absolute after Load; may be empty with llama_server.url
	CtxSize   int       `yaml:"ctx_size"`   // tokens per chat; 0 is planned
	GPULayers GPULayers `yaml:"gpu_layers"` // "auto" or a count
	Parallel  int       `yaml:"parallel"`   // chats at once on one server; 0 is planned
}

// Agent is what a chat names: a model with its instructions and limits.
type Agent struct {
	Name         string   `yaml:"name"`
	Model        string   `yaml:"model"` // a name from Models; empty only when Models is
	SystemPrompt string   `yaml:"system_prompt"`
	MaxSteps     int      `yaml:"max_steps"`   // model steps a turn; >= 1
	MaxTokens    int      `yaml:"max_tokens"`  // per step; 0 leaves it to the server
	Temperature  *float64 `yaml:"temperature"` // nil leaves it to the server
	Tools        []string `yaml:"tools"`       // globs on server/tool, see MatchGlob; empty allows none
}

// MCPServer is one tool server: spawned (Command) or remote (URL), never both.
type MCPServer struct {
	Command          string            `yaml:"command"`
	Args             []string          `yaml:"args" maskargs:"true"`
	Cwd              string            `yaml:"cwd"` // absolute after Load, or empty
	Env              map[string]string `yaml:"env" secret:"true"`
	URL              string            `yaml:"url" secretquery:"true"`
	Headers          map[string]string `yaml:"headers" secret:"true"`
	RequiresApproval Approval          `yaml:"requires_approval"` // all of its tools when not given
	Timeout          time.Duration     `yaml:"timeout"`           // of the start and of each call; > 0
}

// App holds the limits of agent turns and the place of what is stored.
type App struct {
	DataDir          string        `yaml:"data_dir" env:"DATA_DIR"` // absolute after Load; empty only when no home is known
	MaxParseErrors   int           `yaml:"max_parse_errors" env:"MAX_PARSE_ERRORS"`
	MaxParallelChats int           `yaml:"max_parallel_chats" env:"MAX_PARALLEL_CHATS"` // >= 1
	ApprovalTimeout  time.Duration `yaml:"approval_timeout" env:"APPROVAL_TIMEOUT"`     // > 0
	ToolResultBytes  int64         `yaml:"tool_result_bytes" env:"TOOL_RESULT_BYTES"`
}

// Memory configures what an agent remembers over sessions.
type Memory struct {
	Enabled        bool   `yaml:"enabled" env:"ENABLED"`
	TopK           int    `yaml:"top_k" env:"TOP_K"` // >= 1
	EmbeddingModel string `yaml:"embedding_model" env:"EMBEDDING_MODEL"`
}

// LocalTools configures confined shell commands.
type LocalTools struct {
	Network bool `yaml:"network" env:"NETWORK"`
}

// Input bounds what is read from stdin. All are >= 1.
type Input struct {
	MaxLineBytes       int64 `yaml:"max_line_bytes" env:"MAX_LINE_BYTES"` // without the line's end
	MaxPendingRequests int   `yaml:"max_pending_requests" env:"MAX_PENDING_REQUESTS"`
	MaxPendingBytes    int64 `yaml:"max_pending_bytes" env:"MAX_PENDING_BYTES"`
}

// Values of Output.OnFull.
const (
	OnFullCoalesce = "coalesce"
	OnFullDrop     = "drop"
)

// Output bounds what waits for the reader of stdout.
type Output struct {
	OnFull          string        `yaml:"on_full" env:"ON_FULL"` // OnFullCoalesce or OnFullDrop
	PendingBytes    int64         `yaml:"pending_bytes" env:"PENDING_BYTES"`
	MergeBytes      int64         `yaml:"merge_bytes" env:"MERGE_BYTES"`
	QueueFrames     int           `yaml:"queue_frames" env:"QUEUE_FRAMES"`
	GuaranteedBytes int64         `yaml:"guaranteed_bytes" env:"GUARANTEED_BYTES"`
	ASCII           bool          `yaml:"ascii" env:"ASCII"`
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout" env:"SHUTDOWN_TIMEOUT"` // 0 gives up at once
	EOFTimeout      time.Duration `yaml:"eof_timeout" env:"EOF_TIMEOUT"`           // > 0
	StallThreshold  time.Duration `yaml:"stall_threshold" env:"STALL_THRESHOLD"`   // > 0
}

// Log configures the log on stderr.
type Log struct {
	Level  string `yaml:"level" env:"LEVEL"`   // debug, info, warn or error
	Format string `yaml:"format" env:"FORMAT"` // text or json
}

// Debug configures the debug endpoint.
type Debug struct {
	Addr           string `yaml:"addr" env:"ADDR"` // host:port; empty is off
	Token          string `yaml:"token" env:"TOKEN" secret:"true"`
	FlightRecorder bool   `yaml:"flight_recorder" env:"FLIGHT_RECORDER"`
}

package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Flags are llama-server's arguments for the plan: its help of the tests' build lists all of them under
// these names. --fit off keeps the server from changing the plan. What the binary doesn't know is not
// among them.
func (p Plan) Flags() []string {
	var flags []string
	for _, flag := range p.all() {
		if !slices.Contains(p.unknown, flag[0]) {
			flags = append(flags, flag...)
		}
	}
	return flags
}

// leftOut are the names of the flags that the binary doesn't know.
func (p Plan) leftOut() (names []string) {
	for _, flag := range p.all() {
		if slices.Contains(p.unknown, flag[0]) {
			names = append(names, flag[0])
		}
	}
	return names
}

// all are the plan's flags, each with its value.
func (p Plan) all() [][]string {
	var flags [][]string
	add := func(name string, value int) {
		if value > 0 {
			flags = append(flags, []string{name, strconv.Itoa(value)})
		}
	}
	add("-c", p.CtxSize*max(p.Parallel, 1))
	add("-np", p.Parallel)
	if p.open {
		if p.openGPU != "" {
			flags = append(flags, []string{"-ngl", p.openGPU})
		}
		return p.withEmbedding(flags) // the server may fit what is left to it
	}
	flags = append(flags, []string{"-ngl", strconv.Itoa(p.GPULayers)})
	add("-b", p.BatchSize)
	add("-ub", p.UBatchSize)
	flags = append(flags, []string{"-ctk", p.CacheTypeK}, []string{"-ctv", p.CacheTypeV}, []string{"-cram", strconv.Itoa(p.CacheRAMMiB)})
	if p.windowed {
		flags = append(flags, []string{"-ctxcp", strconv.Itoa(p.CtxCheckpoints)})
	}
	flags = append(flags, []string{"--fit", "off"})
	return p.withEmbedding(flags)
}

func (p Plan) withEmbedding(flags [][]string) [][]string {
	if p.embedding {
		flags = append(flags, []string{"--embedding"})
	}
	return flags
}

// used are all flags that a server is started with.
var used = []string{"-m", "-c", "-np", "-ngl", "-b", "-ub", "-ctk", "-ctv", "-cram", "-ctxcp", "--fit", "--host", "--port"}

// UnknownFlags returns those of the flags that a server is started with which are not in its help, the
// output of `llama-server --help`: a server that doesn't know one ends at once.
func UnknownFlags(help string) (unknown []string) {
	words := strings.FieldsFunc(help, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\r' || r == '\t' })
	for _, flag := range used {
		if !slices.Contains(words, flag) {
			unknown = append(unknown, flag)
		}
	}
	return unknown
}

// newFlags are those of used that only builds since the end of 2025 know. A server does without them, though
// it then takes memory that nobody planned.
var newFlags = []string{"-cram", "-ctxcp", "--fit"}

// LeftOut returns the flags without which a server with this help is started. A help that doesn't even list
// -m is none, as that of a wrapper: then it gets the flags that all builds know.
func LeftOut(help string) (flags []string) {
	unknown := UnknownFlags(help)
	if slices.Contains(unknown, "-m") {
		return newFlags
	}
	return unknown
}

// command is the whole argv without the address.
func command(r Request, p Plan) []string {
	binary, args := r.Binary, r.ShownArgs
	if binary == "" {
		binary = "llama-server"
	}
	if args == nil {
		args = r.Args
	}
	return slices.Concat([]string{binary, "-m", r.Path}, p.Flags(), args)
}

// serverArgs is what llama_server.args say that a plan must know.
type serverArgs struct {
	noRepack, noGPU bool
	projector       string // the file of --mmproj
	size            uint64 // of that file
	warnings        []string
}

// overriding are flags of users that change the plan.
var overriding = []string{
	"-c", "--ctx-size", "-np", "--parallel", "-ngl", "--gpu-layers", "--n-gpu-layers", "-b", "--batch-size", "-ub", "--ubatch-size",
	"-ctk", "--cache-type-k", "-ctv", "--cache-type-v", "-cram", "--cache-ram", "-ctxcp", "--ctx-checkpoints", "-fit", "--fit", "-m", "--model",
}

// readArgs looks at the arguments that follow the planned ones, and win over them.
func readArgs(args []string) (a serverArgs) {
	for i, arg := range args {
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		if name, given, found := strings.Cut(arg, "="); found && strings.HasPrefix(name, "--") {
			arg, value = name, given
		}
		switch {
		case slices.Contains(overriding, arg):
			a.warnings = append(a.warnings, fmt.Sprintf("llama_server.args holds %s, which overrides the plan: the estimate may be wrong", arg))
		case arg == "-nr", arg == "--no-repack":
			a.noRepack = true
		case (arg == "-dev" || arg == "--device") && value == "none":
			a.noGPU = true
		case arg == "-mm", arg == "--mmproj":
			a.projector = value
		}
	}
	return a.withProjector()
}

// withProjector looks at the vision projector, which is loaded beside the model.
func (a serverArgs) withProjector() serverArgs {
	if a.projector == "" {
		return a
	}
	file, err := Inspect(a.projector)
	switch {
	case err != nil:
		a.warnings = append(a.warnings, "the vision projector of llama_server.args can't be used: "+err.Error())
	case !file.Model.Projector:
		a.warnings = append(a.warnings, fmt.Sprintf("%q, given as --mmproj, is no vision projector", a.projector))
	default:
		a.size = file.Model.FileBytes
	}
	return a
}

// projectorBytes is what a projector takes: its weights, and as much again at most for an image.
func (a serverArgs) projectorBytes() uint64 { return 2 * a.size }

package config

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"

	"github.com/goccy/go-yaml/ast"
)

// Mode says which command asks; it decides where an unnamed configuration file is looked for.
type Mode int

const (
	// ModeNDJSON is serve-stdio and the commands for people: config.yaml in the working directory.
	ModeNDJSON Mode = iota
	// ModeJSONRPC is serve --stdio, which editors start inside repositories that nobody vetted: the
	// user's own configuration folder, never the working directory.
	ModeJSONRPC
)

// Options says what to load. The zero value loads what serve-stdio without flags would.
type Options struct {
	Path    string   // --config; empty looks in $SLUICE_CONFIG, then where Mode says
	Mode    Mode     // the kind of command
	Dir     string   // working directory; empty is the process's own
	Environ []string // "NAME=value"; nil is the process's own
	Ignore  []string // names of SLUICE_ variables that aren't configuration and need no warning
	Demo    bool     // --demo: serve the embedded model whatever the configuration says
}

// Loaded is a configuration and where it came from.
type Loaded struct {
	Config   Config
	Path     string   // absolute path of the file that was read; empty when none was
	Found    bool     // there is a configuration: a file, a variable or Demo
	Missing  string   // path of the file that was looked for and isn't there, for config_missing
	Warnings []string // one line each, for the log: unknown variables and the like
}

// Load reads, overrides, completes and checks the configuration. A file that isn't there is no
// error. Every error is an *Error.
func Load(o Options) (*Loaded, error) {
	if o.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, &Error{Reason: "the working directory can't be told"}
		}
		o.Dir = dir
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	vars := newVariables(o.Environ, runtime.GOOS)
	l := &loading{options: o, vars: vars, source: locate(o, vars), loaded: &Loaded{Config: Default()}}
	if err := l.run(); err != nil {
		return nil, err
	}
	return l.loaded, nil
}

// loading is the state of one Load.
type loading struct {
	options Options
	vars    variables
	source  source
	lines   map[string]int // of the file, by key path
	set     []string       // variables that override something
	loaded  *Loaded
}

func (l *loading) run() error {
	if err := l.readFile(); err != nil {
		return err
	}
	if err := l.override(); err != nil {
		return err
	}
	config := &l.loaded.Config
	if l.options.Demo {
		config.LlamaServer.URL = DemoURL
		l.loaded.Found = true
	}
	config.complete()
	if err := l.validate(); err != nil {
		return err
	}
	l.resolvePaths()
	return nil
}

// readFile decodes the file over the defaults, when there is one.
func (l *loading) readFile() error {
	text, err := readBounded(l.source.path)
	if errors.Is(err, fs.ErrNotExist) {
		l.loaded.Missing = cmp.Or(l.source.path, l.source.missing)
		if l.source.named {
			l.loaded.Warnings = append(l.loaded.Warnings, oneLine(l.source.shown+": no such file"))
		}
		return nil
	}
	if err != nil {
		return &Error{File: l.source.shown, Reason: "can't be read: " + readReason(err)}
	}
	root, err := parseYAML(l.source.shown, text)
	if err != nil {
		return err
	}
	l.loaded.Path, l.loaded.Found = l.source.path, true
	l.lines = map[string]int{"": 1}
	if root == nil {
		return nil
	}
	d := decoder{file: l.source.shown, lines: l.lines, anchors: map[string]ast.Node{}}
	return d.decode("", root, reflect.ValueOf(&l.loaded.Config).Elem())
}

var (
	errDirectory = errors.New("is a directory")
	errLong      = errors.New("longer than 256 KiB")
)

// readBounded returns the text of a file of at most maxFileBytes.
func readBounded(path string) ([]byte, error) {
	if path == "" {
		return nil, fs.ErrNotExist
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, errDirectory
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		return nil, errLong
	}
	return text, err
}

// readReason returns the cause without the path, which the message names already.
func readReason(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

// resolvePaths makes relative paths absolute: from the file's folder, else the working directory.
func (l *loading) resolvePaths() {
	base := l.options.Dir
	if l.loaded.Path != "" {
		base = filepath.Dir(l.loaded.Path)
	}
	config := &l.loaded.Config
	for i := range config.Models {
		config.Models[i].Path = absolute(base, config.Models[i].Path)
	}
	if binary := &config.LlamaServer.Binary; filepath.Base(*binary) != *binary {
		*binary = absolute(base, *binary) // a bare name is looked up on PATH
	}
	for name, server := range config.MCPServers {
		server.Cwd = absolute(base, server.Cwd)
		config.MCPServers[name] = server
	}
	if config.App.DataDir == "" {
		config.App.DataDir = dataDir(l.vars, runtime.GOOS)
	}
	config.App.DataDir = absolute(base, config.App.DataDir)
}

func absolute(base, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

package llama

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"sluice/internal/wire"
)

// FindBinary resolves llama_server.binary, a name on PATH or a path; an empty one is "llama-server". The error is
// a *wire.Fault with binary_missing.
func FindBinary(binary string) (string, error) {
	path, fault := findBinary(ServerOptions{Binary: binary}.withDefaults().Binary)
	return path, asError(fault)
}

func findBinary(binary string) (string, *wire.Fault) {
	path, err := exec.LookPath(binary)
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR):
		return "", wire.NewFault(wire.CodeBinaryMissing, binary+" is not an executable file; make it executable, or set llama_server.binary to a llama-server")
	case strings.ContainsRune(binary, filepath.Separator):
		return "", wire.NewFault(wire.CodeBinaryMissing, binary+" does not exist; set llama_server.binary to a llama-server (llama.cpp)")
	}
	return "", wire.NewFault(wire.CodeBinaryMissing, binary+" is not on PATH; install llama.cpp, or set llama_server.binary to its llama-server")
}

// launchFault tells a file that can't be run from other failures.
func launchFault(path string, err error) *wire.Fault {
	var file *fs.PathError
	ours := errors.As(err, &file) && file.Path == path // and not the guardian
	if ours && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOEXEC)) {
		return wire.NewFault(wire.CodeBinaryMissing, fmt.Sprintf("%s can't be run: %v; set llama_server.binary to a llama-server of this system", path, err))
	}
	return startFault("llama-server (%s) can't be started: %v", path, err)
}

// checkModel looks whether the file can be read and is a GGUF (its first bytes are the magic "GGUF").
func checkModel(path string) *wire.Fault {
	missing := func(why string) *wire.Fault {
		return wire.NewFault(wire.CodeModelMissing, why+"; set the model's path to a GGUF file")
	}
	if path == "" {
		return missing("the model has no path")
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return missing("the model " + path + " is not a file")
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return missing("the model " + path + " does not exist")
	} else if err != nil {
		return missing(fmt.Sprintf("the model %s can't be read: %v", path, err))
	}
	defer file.Close()
	magic := make([]byte, 4)
	if _, err := io.ReadFull(file, magic); err != nil || string(magic) != "GGUF" {
		return missing("the model " + path + " is no GGUF file")
	}
	return nil
}

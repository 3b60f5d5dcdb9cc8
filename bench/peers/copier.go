package peers

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed csource/copier.c
var copierSource []byte

// BuildCopier compiles the copier into the folder and returns its path. It is written in C, since a
// Go program's scheduler would be part of what it measures. The compiler is $CC, or the first of
// cc, gcc and clang that is found.
func BuildCopier(ctx context.Context, folder string) (string, error) {
	compiler, err := findCompiler()
	if err != nil {
		return "", err
	}
	source := filepath.Join(folder, "copier.c")
	if err := os.WriteFile(source, copierSource, 0o600); err != nil {
		return "", err
	}
	program := filepath.Join(folder, "copier")
	output, err := exec.CommandContext(ctx, compiler, "-O2", "-o", program, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("compile the copier with %s: %w: %s", compiler, err, output)
	}
	return program, nil
}

func findCompiler() (string, error) {
	for _, name := range []string{os.Getenv("CC"), "cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path, nil
		}
	}
	return "", errors.New("no C compiler found for the copier: install gcc or set CC")
}

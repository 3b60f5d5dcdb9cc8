package planner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"sluice/internal/wire"
)

// openRegular opens a regular file for reading, which the caller closes. Whatever else has that name is
// told apart before it is opened: opening a FIFO waits for its writer and opening a device may do
// anything. The error is a *wire.Fault with model_missing.
func openRegular(path string) (*os.File, int64, error) {
	if path == "" {
		return nil, 0, wire.NewFault(wire.CodeModelMissing, "no model file is configured; name a GGUF file in models[].path")
	}
	info, err := os.Stat(path)
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, 0, unreadable(path, err)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, 0, unreadable(path, err)
	}
	// The name may have been given to something else meanwhile.
	if info, err = file.Stat(); err == nil {
		err = regular(path, info)
	}
	if err != nil {
		_ = file.Close()
		return nil, 0, unreadable(path, err)
	}
	return file, info.Size(), nil
}

func regular(path string, info fs.FileInfo) error {
	kind := ""
	switch mode := info.Mode(); {
	case mode.IsRegular() && info.Size() > 0:
		return nil
	case mode.IsRegular():
		return missing(path, "is empty; download it again")
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe (FIFO)"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	default:
		kind = "no regular file"
	}
	return missing(path, "is "+kind+"; name the GGUF file itself in models[].path")
}

// unreadable says in words what the system said.
func unreadable(path string, err error) error {
	var fault *wire.Fault
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.Is(err, fs.ErrNotExist):
		return missing(path, "is not there; check models[].path")
	case errors.Is(err, fs.ErrPermission):
		return missing(path, "can't be read: no permission; check the owner and mode of the file and of its folders")
	}
	var system *fs.PathError
	if errors.As(err, &system) {
		err = system.Err
	}
	return missing(path, fmt.Sprintf("can't be read: %v", err))
}

// missing is the fault of a file that is no model that can be loaded.
func missing(path, what string) *wire.Fault {
	return wire.NewFault(wire.CodeModelMissing, fmt.Sprintf("the model file %q %s; name another one in models[].path", path, what))
}

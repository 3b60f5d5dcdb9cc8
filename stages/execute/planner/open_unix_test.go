//go:build unix

package planner

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sluice/internal/wire"
)

func TestNoRegularFile(t *testing.T) {
	folder, err := os.MkdirTemp("", "open-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	fifo, link, empty := filepath.Join(folder, "fifo"), filepath.Join(folder, "link"), filepath.Join(folder, "empty")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(folder, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for path, says := range map[string]string{
		"":                                 "no model file is configured",
		folder:                             "is a folder",
		fifo:                               "named pipe",
		link:                               "named pipe",
		"/dev/null":                        "is a device",
		"/dev/zero":                        "is a device",
		socket.Addr().String():             "is a socket",
		empty:                              "is empty",
		filepath.Join(folder, "none"):      "is not there",
		filepath.Join(empty, "below"):      "can't be read",
		filepath.Join(folder, "a\x00b"):    "can't be read",
		filepath.Join(folder, "none.gguf"): "check models[].path",
	} {
		_, err := Inspect(path)
		wantFault(t, err, wire.CodeModelMissing, says)
	}
}

// TestNoPermission runs as whoever runs the tests: for root, to whom every file is open, the answer of
// the system is what is tested.
func TestNoPermission(t *testing.T) {
	path := small.write(t, "closed.gguf")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Open(path); err == nil {
		wantFault(t, unreadable(path, &os.PathError{Op: "open", Path: path, Err: syscall.EACCES}), wire.CodeModelMissing, "no permission", path)
		return
	}
	_, err := Inspect(path)
	wantFault(t, err, wire.CodeModelMissing, "no permission", path)
}

package llama

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// longestSocketPath is what macOS's sun_path holds with its end (sys/un.h); Linux has 108.
const longestSocketPath = 103

// place is where a spawned server listens.
type place struct {
	folder string // the socket's; empty for a port
	args   []string
	dial   dialFunc
}

// newPlace returns a Unix socket in a new folder that only we may enter, or on Windows a loopback port
// that was free a moment ago: the proof of the key tells if somebody else took it since.
func newPlace() (place, error) {
	if runtime.GOOS == "windows" {
		return newPort()
	}
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		folder, err := os.MkdirTemp(parent, "sluice-")
		if err != nil {
			if parent == "/tmp" {
				return place{}, err
			}
			continue
		}
		socket := filepath.Join(folder, "llama.sock")
		if len(socket) <= longestSocketPath {
			return place{folder, []string{"--host", socket}, dialUnix(socket)}, nil
		}
		_ = os.Remove(folder)
	}
	return place{}, errors.New("no folder with a path short enough for a socket")
}

func newPort() (place, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return place{}, err
	}
	defer listener.Close()
	address := listener.Addr().(*net.TCPAddr)
	args := []string{"--host", "127.0.0.1", "--port", strconv.Itoa(address.Port)}
	return place{"", args, dialTCP(address.String())}, nil
}

func (p place) remove() error {
	if p.folder == "" {
		return nil
	}
	return os.RemoveAll(p.folder)
}

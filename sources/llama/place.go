package llama

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// longestSocketPath is what macOS's sun_path holds with its end (sys/un.h); Linux has 108.
const longestSocketPath = 103

// place is where a spawned server listens.
type place struct {
	folder string // the socket's, made when the server starts; empty for a port
	args   []string
	dial   dialFunc
}

// places returns where the server may listen, the best first: a Unix socket in a folder that doesn't
// exist yet, or on Windows a loopback port that was free a moment ago: the proof of the key tells if
// somebody else took it since.
func places() ([]place, error) {
	if runtime.GOOS == "windows" {
		port, err := newPort()
		return []place{port}, err
	}
	var found []place
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		parent, err := filepath.Abs(parent) // the guardian works in another directory
		if err != nil {
			continue
		}
		folder := filepath.Join(parent, "sluice-"+strings.ToLower(rand.Text()))
		if socket := filepath.Join(folder, "llama.sock"); len(socket) <= longestSocketPath {
			found = append(found, place{folder, []string{"--host", socket}, dialUnix(socket)})
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no folder with a path short enough for a socket")
	}
	return found, nil
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

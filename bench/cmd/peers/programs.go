package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"sluice/bench/peers/scripts"
)

// peer is a program that answers the engine's chat requests.
type peer struct {
	name    string
	command []string // program and arguments, without the server's URL
	slow    bool     // also part of W3
	small   bool     // so slow that W3's tokens are those of small programs
}

// Names of what the peers stand beside.
const (
	engineName   = "**Sluice**, every token an event"
	mergingName  = "**Sluice**, merging"
	droppingName = "**Sluice**, `on_full: drop`"
	limitName    = "the limit: the same bytes, moved unread"
)

// findPeers returns the peers that can run, and the names of the interpreters that are missing.
func findPeers(programs, folder string) (found []peer, missing []string, err error) {
	asyncio, node, err := scripts.Write(folder)
	if err != nil {
		return nil, nil, err
	}
	gochat, benthos := filepath.Join(programs, "gochat"), filepath.Join(programs, "benthos")
	for _, built := range []string{gochat, benthos, filepath.Join(programs, "sinks")} {
		if _, err := os.Stat(built); err != nil {
			return nil, nil, fmt.Errorf("no peer at %q: make bench-peers builds it", built)
		}
	}
	all := []peer{
		{"go-streams, one token an element", []string{gochat, "streams"}, false, false},
		{"Node, one write a batch", []string{"node", node, "batch"}, false, false},
		{"Node, one write an event", []string{"node", node, "event"}, true, false},
		{"Node, waits for drain", []string{"node", node, "drain"}, true, false},
		{"Go `encoding/json`, one write a batch", []string{gochat, "json-batch"}, true, false},
		{"Go `encoding/json`, one write an event", []string{gochat, "json-event"}, false, false},
		{"Go `encoding/json`, channel of 1,024 lines", []string{gochat, "json-channel"}, true, false},
		{"asyncio, bounded queue", []string{"python3", asyncio, "queue"}, true, false},
		{"asyncio, bounded queue, writer thread", []string{"python3", asyncio, "thread"}, true, false},
		{"Benthos, batches", []string{benthos, "batch"}, true, true},
		{"Benthos, one message an event", []string{benthos, "plain"}, false, true},
	}
	absent := map[string]bool{}
	for _, p := range all {
		path, err := exec.LookPath(p.command[0])
		if err != nil {
			if !absent[p.command[0]] {
				absent[p.command[0]] = true
				missing = append(missing, p.command[0])
			}
			continue
		}
		p.command[0] = path
		found = append(found, p)
	}
	return found, missing, nil
}

// sinkRow is a way of writing for W6.
type sinkRow struct{ name, sink string }

var sinkRows = []sinkRow{
	{"mutex and two buffers that swap", "mutex"},
	{"**Sluice's sink**, every line an event", "drop"},
	{"**Sluice's sink**, merging", "coalesce"},
	{"zap `BufferedWriteSyncer` (flushes when full or after 30 s)", "zap"},
	{"channel of 1,024 lines and `bufio`", "channel"},
	{"one write a line", "direct"},
	{"zerolog `diode`", "diode"},
}

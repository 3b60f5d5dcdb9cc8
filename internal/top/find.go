package top

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// runFolder holds a file for each engine whose debug server is on, below the data folder.
const runFolder = "run"

// maxRunFileBytes bounds a file that names an engine; its own are a tenth of it.
const maxRunFileBytes = 4 << 10

// Engine is what an engine wrote about itself when its debug server began to listen.
type Engine struct {
	PID     int       `json:"pid"`
	Address string    `json:"addr"` // host:port
	Started time.Time `json:"started"`
	Version string    `json:"version"`
}

// Find returns the engines of a data folder that live, the latest first. A killed engine leaves its
// file behind, so that each is asked; the token goes to none whose process isn't there any more,
// since its port may be anybody's by now. A folder that isn't there holds none.
func Find(ctx context.Context, dataFolder, token string) ([]Engine, error) {
	engines, err := readRunFolder(filepath.Join(dataFolder, runFolder))
	if err != nil {
		return nil, err
	}
	living := make([]bool, len(engines))
	var all sync.WaitGroup
	for i, e := range engines {
		all.Go(func() { living[i] = lives(ctx, e, token) })
	}
	all.Wait()
	var found []Engine
	for i, e := range engines {
		if living[i] {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b Engine) int { return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.PID, b.PID)) })
	return found, nil
}

// lives asks an engine. One that wants a token, or takes long to answer, is there too.
func lives(ctx context.Context, e Engine, token string) bool {
	if !processLives(e.PID) {
		return false
	}
	c := NewClient(e.Address, token)
	defer c.Close()
	s, err := c.Snapshot(ctx)
	if err != nil {
		return errors.Is(err, ErrToken) || errors.Is(err, ErrSlow)
	}
	return s.PID == e.PID
}

// readRunFolder reads every file of engines; what is no such file is passed over, since any may be
// half written or taken away while we read.
func readRunFolder(folder string) ([]Engine, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var engines []Engine
	for _, entry := range entries {
		if !entry.Type().IsRegular() || filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		if e, ok := readRunFile(filepath.Join(folder, entry.Name())); ok {
			engines = append(engines, e)
		}
	}
	return engines, nil
}

func readRunFile(name string) (e Engine, ok bool) {
	file, err := os.Open(name)
	if err != nil {
		return e, false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxRunFileBytes))
	if err != nil || json.Unmarshal(text, &e) != nil || e.PID <= 0 {
		return e, false
	}
	e.Version = printable(e.Version)
	e.Address, err = ParseAddress(e.Address)
	return e, err == nil
}

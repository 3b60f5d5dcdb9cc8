package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sluice/internal/filelock"
	"sluice/internal/wire"
)

const (
	fileName = "config.json"
	// largestFile bounds config.json, in bytes: more is none that anybody wrote.
	largestFile = 1 << 20
	// lockPatience is how long a change waits for another engine's.
	lockPatience = 10 * time.Second
)

// file is config.json.
type file struct {
	dir    string
	logger *slog.Logger
}

func (f *file) path() string { return filepath.Join(f.dir, fileName) }

// read returns what the file holds, an empty document when there is none. Errors are config_invalid.
func (f *file) read() (*document, error) {
	text, err := f.text()
	if errors.Is(err, fs.ErrNotExist) {
		return newDocument(), nil
	}
	if err != nil {
		return nil, f.unusable("be read", err)
	}
	d, err := parse(text)
	if err != nil {
		return nil, f.explained(err)
	}
	return d, nil
}

// explained is the fault of a file that isn't understood.
func (f *file) explained(err error) *wire.Fault {
	var newer *newerVersion
	if errors.As(err, &newer) {
		return wire.NewFault(wire.CodeConfigInvalid, fmt.Sprintf("%s is of version %d, which is newer than this program: update it", f.path(), newer.version))
	}
	return wire.NewFault(wire.CodeConfigInvalid, fmt.Sprintf("%s is damaged (%v): repair it, or set a profile anew, which keeps the damaged file beside the new one", f.path(), err))
}

func (f *file) unusable(verb string, err error) *wire.Fault {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return wire.NewFault(wire.CodeConfigInvalid, fmt.Sprintf("%s can't %s (%v): check the folder's permissions and its disk, or set DEX_CLI_HOME to another folder", f.path(), verb, err))
}

// text reads the file, of which one byte more than largestFile at the most.
func (f *file) text() ([]byte, error) {
	info, err := os.Stat(f.path())
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, errors.New("it is no file")
	}
	opened, err := os.Open(f.path())
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return io.ReadAll(io.LimitReader(opened, largestFile+1))
}

// update reads the file, has it changed and writes it, while no other engine can. A document that change
// returns an error for, or reports as unchanged, is not written. With anew, a damaged file is put aside and
// begun anew. Errors are *wire.Fault.
func (f *file) update(ctx context.Context, anew bool, change func(*document) (changed bool, err error)) error {
	if err := makeFolder(f.dir); err != nil {
		return f.unusable("be written", err)
	}
	release, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	d, damaged, err := f.readToChange(anew)
	if err != nil {
		return err
	}
	changed, err := change(d)
	if err != nil || !changed {
		return err
	}
	if damaged {
		if err := f.putAside(); err != nil {
			return f.unusable("be put aside", err)
		}
	}
	switch err := f.write(d); err {
	case nil:
		return nil
	case errLarge:
		return wire.NewFault(wire.CodeConfigInvalid, f.path()+" would become larger than 1 MiB, so it stays as it was: remove from it what is not needed")
	default:
		return f.unusable("be written", err)
	}
}

func (f *file) lock(ctx context.Context) (release func(), err error) {
	patient, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	locked, err := lockFile(patient, f.path()+".lock")
	switch {
	case err == nil:
		return func() { locked.Close() }, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, filelock.ErrLocked):
		return nil, wire.NewFault(wire.CodeConfigInvalid, f.path()+" is being changed by another engine that doesn't finish: end it and try again")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return nil, f.unusable("be written", err)
	}
	f.logger.Warn("the folder of config.json has no file locks; changes of several engines at once may get lost", "error", err)
	return func() {}, nil
}

func (f *file) readToChange(anew bool) (d *document, damaged bool, err error) {
	text, err := f.text()
	if errors.Is(err, fs.ErrNotExist) {
		return newDocument(), false, nil
	}
	if err != nil {
		return nil, false, f.unusable("be read", err)
	}
	d, err = parse(text)
	var newer *newerVersion
	switch {
	case err == nil:
		return d, false, nil
	case anew && !errors.As(err, &newer):
		return newDocument(), true, nil
	}
	return nil, false, f.explained(err)
}

// putAside renames a damaged file, so that nothing in it is lost.
func (f *file) putAside() error {
	aside := f.path() + ".damaged-" + time.Now().UTC().Format("20060102T150405.000000000Z")
	if err := replaceFile(f.path(), aside); err != nil {
		return err
	}
	f.logger.Warn("config.json was damaged and is kept beside the new one", "path", aside)
	return nil
}

// write replaces the file in one step, but for a text that parse would not take (errLarge). Whoever has the
// lock calls it.
func (f *file) write(d *document) error {
	f.sweep()
	text := d.encode()
	if len(text) > largestFile {
		return errLarge
	}
	temporary, err := os.CreateTemp(f.dir, fileName+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // when it wasn't renamed
	_, err = temporary.Write(text)
	if err == nil {
		err = temporary.Sync()
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if err := replaceFile(temporary.Name(), f.path()); err != nil {
		return err
	}
	return syncFolder(f.dir)
}

// sweep removes what engines left that were killed while they wrote.
func (f *file) sweep() {
	entries, _ := os.ReadDir(f.dir) // the write that follows tells what is wrong
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, fileName+".") && strings.HasSuffix(name, ".tmp") {
			os.Remove(filepath.Join(f.dir, name))
		}
	}
}

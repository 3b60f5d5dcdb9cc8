package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/shirou/gopsutil/v4/disk"
)

// FolderFacts says where data is kept.
type FolderFacts struct {
	// Path is app.data_dir, absolute; empty when none is known.
	Path string
	// Free returns the free bytes of the drive that a folder lies on. Nil asks the system.
	Free func(ctx context.Context, folder string) (uint64, error)
	// Database opens the database without changing it; it isn't asked while the folder isn't there. Nil:
	// there is none yet.
	Database func(context.Context) error
}

// Below leastFree nothing can be stored any more, below littleFree it soon may be so.
const (
	leastFree  = 64 << 20
	littleFree = 1 << 30
)

// Folder checks the data folder without changing it. One that isn't there yet is made by the first chat,
// so that the folder above it must allow that.
func Folder(f FolderFacts) Check {
	return Check{"data_dir", func(ctx context.Context) Finding {
		if f.Path == "" {
			return failed("no data folder is known, because no home is", "set app.data_dir")
		}
		folder, info, err := nearest(f.Path)
		if err != nil {
			return failed(fmt.Sprintf("%s: %v", f.Path, reason(err)), "set app.data_dir to a folder of your own")
		}
		if err := writable(folder); err != nil {
			return failed(fmt.Sprintf("%s can't be written: %v", folder, reason(err)), "give yourself access to it, or set app.data_dir to another folder")
		}
		free, err := f.free(ctx, folder)
		switch {
		case err != nil:
			return warned(fmt.Sprintf("the free space of %s can't be read: %v", folder, reason(err)), "look at the drive")
		case free < leastFree:
			return failed(fmt.Sprintf("only %s are free on the drive of %s", size(free), folder), "make room, or set app.data_dir to another drive")
		}
		exists := folder == filepath.Clean(f.Path)
		if exists && f.Database != nil {
			if err := f.Database(ctx); err != nil {
				return failed(fmt.Sprintf("the database in %s can't be opened: %v", folder, err), "end other programs that use it; the log at debug says more")
			}
		}
		switch {
		case free < littleFree:
			return warned(fmt.Sprintf("only %s are free on the drive of %s", size(free), folder), "make room")
		case exists && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
			return warned(fmt.Sprintf("%s is open to others (mode %04o)", folder, info.Mode().Perm()), "chmod 700 "+folder)
		case !exists:
			return passed(fmt.Sprintf("%s will be made, %s are free", f.Path, size(free)))
		}
		return passed(fmt.Sprintf("%s, %s are free", folder, size(free)))
	}}
}

// nearest returns the folder, or the nearest one above it that is there.
func nearest(path string) (string, fs.FileInfo, error) {
	for folder := filepath.Clean(path); ; folder = filepath.Dir(folder) {
		info, err := os.Stat(folder)
		switch {
		case err == nil && !info.IsDir():
			return "", nil, fmt.Errorf("%s is no folder", folder)
		case err == nil:
			return folder, info, nil
		case !errors.Is(err, fs.ErrNotExist) || folder == filepath.Dir(folder):
			return "", nil, err
		}
	}
}

func (f FolderFacts) free(ctx context.Context, folder string) (uint64, error) {
	if f.Free != nil {
		return f.Free(ctx, folder)
	}
	usage, err := disk.UsageWithContext(ctx, folder)
	if err != nil {
		return 0, err
	}
	return usage.Free, nil
}

// reason is an error without the path that the message has already.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// replaceFile makes a new file, and sets aside what is in its place because of damage, which may be
// nil. The folder is locked.
func replaceFile(path string, damage error) (b *base, notices []string, err error) {
	alone := !exists(path) // what is left are companions of a file that is gone
	aside, err := setAside(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; it could not be set aside", errors.Join(damage, err))
	}
	switch {
	case aside == "":
	case !alone:
		notices = append(notices, asideNotice(path, aside))
	case exists(aside + "-wal"):
		notices = append(notices, fmt.Sprintf("the newest part of a session file that is gone was left behind and is now %s-wal; "+
			"where you still have that file, put it beside it, named like the file with -wal behind it", aside))
	}
	if err := create(path); err != nil {
		return nil, notices, err
	}
	b, err = openBase(path)
	return b, notices, err
}

func asideNotice(path, aside string) string {
	return fmt.Sprintf("the session file %s was damaged and is now %s; a new one was begun. What is left in it may be read with the sqlite3 command .recover", path, aside)
}

// setAside gives the file and its companions another name, the file last: as long as it is there,
// nobody makes a new one. It returns the new name, empty when there was nothing.
func setAside(path string) (aside string, err error) {
	name := asideName(path)
	for _, companion := range companions {
		err := os.Rename(path+companion, name+companion)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", err
		default:
			aside = name
		}
	}
	return aside, nil
}

func asideName(path string) string {
	stamp := time.Now().UTC().Format("20060102T150405.000")
	name := filepath.Join(filepath.Dir(path), damagedName+stamp)
	for exists(name) || exists(name+"-wal") {
		name += "x"
	}
	return name
}

// create makes a whole new file under another name and gives it its name then, so that a kill leaves
// nothing half made. The folder is locked.
func create(path string) error {
	dir := filepath.Dir(path)
	for _, left := range named(dir, newName) {
		os.Remove(left)
	}
	name := filepath.Join(dir, newName+randomName())
	err := fill(name)
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		for _, companion := range companions {
			os.Remove(name + companion)
		}
	}
	return err
}

// named returns the paths of the folder's files whose names begin so.
func named(dir, prefix string) (paths []string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	return paths
}

// fill makes the file with its tables.
func fill(name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	c, err := connect(name)
	if err != nil {
		return err
	}
	if _, err = c.text("PRAGMA journal_mode=WAL"); err == nil {
		err = migrate(c, migrations)
	}
	return errors.Join(err, c.close())
}

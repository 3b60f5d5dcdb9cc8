package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sluice/internal/filelock"
)

// The header of a WAL file (https://www.sqlite.org/fileformat.html#the_write_ahead_log): eight words,
// of which the first is one of two magic numbers and the last two are a checksum of the others.
const (
	walHeader = 32
	walMagic  = 0x377f0682 // its lowest bit says that checksums are of big-endian words
)

// checkWAL looks for a write-ahead log that is none: SQLite would ignore it without a word, and the
// turns that were in it. When no other engine is at work it is set aside alone; else the whole file
// counts as damaged.
func checkWAL(path, engine string) (notices []string, err error) {
	wal := path + "-wal"
	good, err := isWAL(wal)
	for range tries { // another engine may have been about to write the header
		if !good && err == nil {
			time.Sleep(lockInterval)
			good, err = isWAL(wal)
		}
	}
	if err != nil || good {
		return nil, err
	}
	if othersAtWork(filepath.Join(filepath.Dir(path), enginesFolder), engine) {
		return nil, errForeign
	}
	aside := asideName(path) + "-wal"
	if err := os.Rename(wal, aside); err != nil {
		return nil, err
	}
	os.Remove(path + "-shm") // an index of the log alone; SQLite makes another
	return []string{fmt.Sprintf("the newest part of the session file (%s) was damaged and is now %s; the latest turns may be missing", wal, aside)}, nil
}

// isWAL reports whether the file is a write-ahead log, or has nothing in it, or isn't there.
func isWAL(name string) (bool, error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	var header [walHeader]byte
	n, err := io.ReadFull(file, header[:])
	if n == 0 && errors.Is(err, io.EOF) {
		return true, nil
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return n == walHeader && validHeader(header), nil
}

func validHeader(header [walHeader]byte) bool {
	magic := binary.BigEndian.Uint32(header[:])
	if magic&^1 != walMagic {
		return false
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	var s1, s2 uint32
	for i := 0; i < walHeader-8; i += 8 {
		s1 += order.Uint32(header[i:]) + s2
		s2 += order.Uint32(header[i+4:]) + s1
	}
	return s1 == binary.BigEndian.Uint32(header[24:]) && s2 == binary.BigEndian.Uint32(header[28:])
}

// othersAtWork reports whether another engine's file is locked.
func othersAtWork(dir, own string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if entry.Name() == own {
			continue
		}
		lock, err := tryLockFile(filepath.Join(dir, entry.Name()), 0)
		if errors.Is(err, filelock.ErrLocked) {
			return true
		}
		if err == nil {
			lock.Close()
		}
	}
	return false
}

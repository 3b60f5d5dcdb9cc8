package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"sluice/internal/bench/report"
)

// openReport opens the file for the page before anything is measured, without changing it.
func openReport(path string) (*reportFile, error) {
	if path == "" {
		return &reportFile{}, nil
	}
	_, err := os.Stat(path)
	created := errors.Is(err, os.ErrNotExist)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--report: %w; name a file that can be written", err)
	}
	return &reportFile{file: file, created: created}, nil
}

// reportFile is the file of the page; it has none when none was asked for.
type reportFile struct {
	file    *os.File
	created bool
}

// write puts the page in the place of what the file held.
func (f *reportFile) write(r *report.Report) error {
	if f.file == nil {
		return nil
	}
	var page strings.Builder
	if err := r.WriteHTML(&page); err != nil {
		return err
	}
	if info, err := f.file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := f.file.Truncate(0); err != nil {
			return err
		}
	}
	_, err := io.WriteString(f.file, page.String())
	err = errors.Join(err, f.file.Close())
	f.file = nil
	return err
}

// discard closes a file that nothing was written to, and removes it if it wasn't there before.
func (f *reportFile) discard() {
	if f.file == nil {
		return
	}
	f.file.Close()
	if f.created {
		os.Remove(f.file.Name())
	}
}

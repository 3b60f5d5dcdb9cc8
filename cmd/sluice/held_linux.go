package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// heldMemory is the memory of a process group that is free again once it is gone, in bytes: what isn't
// mapped from a file, whose pages count as available already (proc(5), /proc/pid/status, RssAnon and
// RssShmem).
func heldMemory(group int) (held uint64) {
	statuses, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range statuses {
		if groupOfStat(path) == group {
			held += anonymous(filepath.Join(filepath.Dir(path), "status"))
		}
	}
	return held
}

// groupOfStat reads a process's group: pid (comm) state ppid pgrp …, where comm may hold anything.
func groupOfStat(path string) int {
	text, _ := os.ReadFile(path)
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 3 {
		return 0
	}
	group, _ := strconv.Atoi(fields[2])
	return group
}

func anonymous(path string) (held uint64) {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		var kib uint64
		name, value, _ := strings.Cut(line, ":")
		if name != "RssAnon" && name != "RssShmem" {
			continue
		}
		if _, err := fmt.Sscanf(value, "%d kB", &kib); err == nil {
			held += kib << 10
		}
	}
	return held
}

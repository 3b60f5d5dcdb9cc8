// Package scripts holds the peers that are written in Python and JavaScript. They need nothing but
// the interpreter.
package scripts

import (
	_ "embed"
	"os"
	"path/filepath"
)

//go:embed asyncio_writer.py
var asyncioWriter []byte

//go:embed node_writer.mjs
var nodeWriter []byte

// Write puts the scripts into a folder and returns their paths.
func Write(folder string) (asyncio, node string, err error) {
	asyncio, node = filepath.Join(folder, "asyncio_writer.py"), filepath.Join(folder, "node_writer.mjs")
	if err := os.WriteFile(asyncio, asyncioWriter, 0o600); err != nil {
		return "", "", err
	}
	return asyncio, node, os.WriteFile(node, nodeWriter, 0o600)
}

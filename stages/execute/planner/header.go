package planner

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	gguf "github.com/gpustack/gguf-parser-go"
)

// header is what a file says about itself, in the types of gguf-parser-go: its architecture readers
// and estimates work on them. Long strings are empty, long arrays have a length only.
type header struct {
	version   uint32
	entries   gguf.GGUFMetadataKVs
	tensors   gguf.GGUFTensorInfos
	length    int64 // bytes that were read
	dataStart int64 // where the first tensor's bytes are, from the start of the file
}

const (
	// minEntry and minTensor are the least bytes that one takes: a key's length, a type and a value of
	// one byte; a name's length, the number of dimensions, one dimension, a type and an offset.
	minEntry  = 8 + 4 + 1
	minTensor = 8 + 4 + 8 + 4 + 8
	// defaultAlignment is that of a file without general.alignment (ggml, docs/gguf.md).
	defaultAlignment = 32
)

// readHeader reads the header of a file of size bytes, at most limit of them. It takes no number for granted: a count or a
// length is held against the bytes that are left before anything is allocated for it. The error says
// what is wrong as the end of a sentence that begins with the file's name.
func readHeader(in io.Reader, size, limit int64) (*header, error) {
	r := newReader(in, size, limit)
	h := &header{}
	r.magic()
	h.version = r.version()
	tensors, entries := r.count("tensors", maxTensors), r.count("metadata entries", maxEntries)
	if r.err == nil && tensors*minTensor+entries*minEntry > uint64(size) {
		r.fail("says that it has %d tensors and %d metadata entries, more than fit into its %d bytes; it is truncated or damaged", tensors, entries, size)
	}
	h.readEntries(r, entries)
	h.readTensors(r, tensors)
	if r.err == nil {
		h.length = r.at
		r.err = h.place(r.at, size)
	}
	if r.err != nil {
		return nil, r.err
	}
	return h, nil
}

// foreign are beginnings of files that people take for a model.
var foreign = []struct{ begins, what string }{
	{"version https://git-lfs", "is a Git LFS pointer, not the model; fetch it with `git lfs pull`"},
	{"<", "is a web page or XML, not a model; the download failed, try it again with the file's own address"},
	{"PK\x03\x04", "is a ZIP archive or a PyTorch checkpoint; convert it to GGUF first"},
	{"tjgg", "is in the old GGJT format, which llama.cpp no longer reads; get a GGUF file of the model"},
	{"fmgg", "is in the old GGMF format, which llama.cpp no longer reads; get a GGUF file of the model"},
	{"lmgg", "is in the old GGML format, which llama.cpp no longer reads; get a GGUF file of the model"},
}

func (r *reader) magic() {
	begin, _ := r.in.Peek(32)
	switch {
	case bytes.HasPrefix(begin, []byte("GGUF")):
		r.skip(4)
		return
	case len(begin) > 8 && bytes.HasPrefix(begin[8:], []byte(`{"`)):
		r.fail("looks like a safetensors file; convert it to GGUF first")
	}
	for _, f := range foreign {
		if bytes.HasPrefix(begin, []byte(f.begins)) {
			r.fail("%s", f.what)
		}
	}
	r.fail("is no GGUF file: it doesn't begin with \"GGUF\"")
}

// version reads the version, of which llama.cpp reads 2 and 3 (ggml, src/gguf.cpp).
func (r *reader) version() uint32 {
	version := r.uint32()
	switch {
	case r.err != nil:
	case version&0xffff == 0 && version != 0:
		r.fail("is written for big-endian machines; get or convert a little-endian one")
	case version == 1:
		r.fail("is GGUF version 1, which llama.cpp no longer reads; convert the model again")
	case version != 2 && version != 3:
		r.fail("is GGUF version %d; versions 2 and 3 are known", version)
	}
	return version
}

func (r *reader) count(what string, limit uint64) uint64 {
	n := r.uint64()
	if r.err == nil && n > limit {
		r.fail("says that it has %d %s, more than the %d that are allowed; it is damaged", n, what, limit)
	}
	return n
}

func (h *header) readEntries(r *reader, count uint64) {
	seen := map[string]struct{}{}
	for range count {
		entry := r.entry()
		if r.err != nil {
			return
		}
		if _, twice := seen[entry.Key]; twice {
			r.fail("has the metadata key %q twice; it is damaged", entry.Key)
			return
		}
		seen[entry.Key] = struct{}{}
		h.entries = append(h.entries, entry)
	}
}

func (h *header) readTensors(r *reader, count uint64) {
	seen := map[string]struct{}{}
	for range count {
		tensor := r.tensor()
		if r.err != nil {
			return
		}
		if _, twice := seen[tensor.Name]; twice {
			r.fail("has the tensor %q twice; it is damaged", tensor.Name)
			return
		}
		seen[tensor.Name] = struct{}{}
		h.tensors = append(h.tensors, tensor)
	}
}

func (r *reader) tensor() gguf.GGUFTensorInfo {
	t := gguf.GGUFTensorInfo{StartOffset: r.at, Name: r.text("tensor name", maxTensorName-1)}
	t.NDimensions = r.uint32()
	if r.err == nil && (t.NDimensions == 0 || t.NDimensions > gguf.GGMLMaxDims) {
		r.fail("has the tensor %q with %d dimensions; it is damaged", t.Name, t.NDimensions)
	}
	if r.err != nil {
		return t
	}
	t.Dimensions = make([]uint64, t.NDimensions)
	for i := range t.Dimensions {
		t.Dimensions[i] = r.uint64()
	}
	t.Type = gguf.GGMLType(r.uint32())
	t.Offset = r.uint64()
	return t
}

// place finds where the data begins and checks that each tensor lies within the file.
func (h *header) place(at, size int64) error {
	alignment, err := h.alignment()
	if err != nil {
		return err
	}
	h.dataStart = (at + alignment - 1) / alignment * alignment
	if len(h.tensors) == 0 {
		return nil // the first part of a split file may hold metadata alone
	}
	held := uint64(max(size-h.dataStart, 0))
	for _, t := range h.tensors {
		length, known, err := tensorBytes(t)
		switch {
		case err != nil:
			return err
		case t.Offset%uint64(alignment) != 0:
			return fmt.Errorf("has the tensor %q at an offset that isn't aligned; it is damaged", t.Name)
		case t.Offset > held, known && length > held-t.Offset:
			return fmt.Errorf("ends before its tensor %q does: it is truncated or damaged; download it again", t.Name)
		}
	}
	return nil
}

func (h *header) alignment() (int64, error) {
	entry, found := h.entries.Get("general.alignment")
	if !found {
		return defaultAlignment, nil
	}
	n, ok := entry.Value.(uint32)
	if !ok || n == 0 || n&(n-1) != 0 || n > 1<<20 {
		return 0, fmt.Errorf("has a general.alignment that is no power of two; it is damaged")
	}
	return int64(n), nil
}

// tensorBytes returns a tensor's length in bytes; not known is one of a type that is newer than ours.
func tensorBytes(t gguf.GGUFTensorInfo) (length uint64, known bool, err error) {
	elements := uint64(1)
	for _, n := range t.Dimensions {
		if n == 0 || n > 1<<48 || elements > 1<<48/n {
			return 0, false, fmt.Errorf("has the tensor %q with impossible dimensions; it is damaged", t.Name)
		}
		elements *= n
	}
	trait, ok := t.Type.Trait()
	if !ok || trait.BlockSize == 0 {
		return 0, false, nil
	}
	if t.Dimensions[0]%trait.BlockSize != 0 {
		return 0, false, fmt.Errorf("has the tensor %q, whose rows don't consist of whole blocks; it is damaged", t.Name)
	}
	return elements / trait.BlockSize * trait.TypeSize, true, nil
}

// isProjector reports whether the file is a vision projector (mmproj).
func (h *header) isProjector() bool { return h.text("general.architecture") == "clip" }

// text returns the value of a key that holds a string, else "".
func (h *header) text(key string) string {
	entry, _ := h.entries.Get(key)
	text, _ := entry.Value.(string)
	return strings.TrimSpace(text)
}

// number returns the value of a key that holds a whole number.
func (h *header) number(key string) (uint64, bool) {
	entry, found := h.entries.Get(key)
	if !found {
		return 0, false
	}
	return whole(entry.Value)
}

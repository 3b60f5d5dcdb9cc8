package planner

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds of a header, that of all parts of a split file together. Real ones are far below: a vocabulary of 262,144 tokens with its merges makes
// about 16 MiB, and the largest models have a few thousand tensors.
const (
	maxHeaderBytes = 64 << 20
	maxEntries     = 10_000
	maxTensors     = 50_000
	maxKeyLength   = 256
	// maxTensorName is GGML_MAX_NAME of ggml.h, its terminating zero included.
	maxTensorName = 64
	// maxText bounds a string that is kept; longer ones (chat templates) are only known to be there.
	maxText = 1 << 10
	// maxKept bounds the elements of an array that is kept: there is one a layer. maxKeptTotal bounds
	// those of all arrays.
	maxKept      = 1024
	maxKeptTotal = 64 << 10
)

// errEnds says that the file ends within its header.
var errEnds = errors.New("ends within its header: it is truncated; download it again")

// reader reads the numbers and strings of a header. After the first error all it returns is zero, and
// err keeps that error.
type reader struct {
	in      *bufio.Reader
	at      int64 // bytes read so far
	size    int64 // of the whole file
	limit   int64 // of what is read
	err     error
	kept    uint64 // elements of arrays that were kept so far
	scratch [8]byte
}

func newReader(in io.Reader, size, limit int64) *reader {
	return &reader{in: bufio.NewReaderSize(in, 256<<10), size: size, limit: limit}
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// room reports whether n more bytes can be there, without overflow for any n.
func (r *reader) room(n uint64) bool {
	switch {
	case r.err != nil:
	case n > uint64(r.size-r.at):
		r.err = errEnds
	case n > uint64(r.limit-r.at):
		r.fail("has a header of more than %d MiB, which no model has; it is damaged or made to do harm", maxHeaderBytes>>20)
	}
	return r.err == nil
}

// bytes fills p.
func (r *reader) bytes(p []byte) {
	if !r.room(uint64(len(p))) {
		return
	}
	n, err := io.ReadFull(r.in, p)
	r.at += int64(n)
	r.broken(err)
}

// skip passes n bytes over.
func (r *reader) skip(n uint64) {
	if !r.room(n) {
		return
	}
	skipped, err := r.in.Discard(int(n)) // room bounds it by maxHeaderBytes
	r.at += int64(skipped)
	r.broken(err)
}

func (r *reader) broken(err error) {
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		r.err = errEnds // it was made shorter meanwhile
	default:
		r.fail("can't be read: %v", err)
	}
}

func (r *reader) uint32() uint32 {
	if p := r.next(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if p := r.next(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// next returns the next few bytes, which are valid until the next read; nil after an error. It is what
// a header of millions of strings spends its time in.
func (r *reader) next(n int) []byte {
	if !r.room(uint64(n)) {
		return nil
	}
	p, err := r.in.Peek(n)
	if err != nil {
		r.broken(err)
		return nil
	}
	_, _ = r.in.Discard(n) // it was there
	r.at += int64(n)
	return p
}

// text reads a string of at most limit bytes.
func (r *reader) text(what string, limit uint64) string {
	length := r.uint64()
	if r.room(length) && length > limit {
		r.fail("has a %s of %d bytes, more than the %d that are allowed; it is damaged", what, length, limit)
	}
	if r.err != nil {
		return ""
	}
	p := make([]byte, length)
	r.bytes(p)
	if r.err != nil {
		return ""
	}
	return string(p)
}

// longText reads a string, and passes it over when it is longer than limit.
func (r *reader) longText(limit uint64) (text string, length uint64) {
	length = r.uint64()
	if !r.room(length) {
		return "", 0
	}
	if length > limit {
		r.skip(length)
		return "", length
	}
	p := make([]byte, length)
	r.bytes(p)
	if r.err != nil {
		return "", 0
	}
	return string(p), length
}

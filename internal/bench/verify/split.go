package verify

import "bytes"

// Split hands the lines of many streams, each to that of its id.
//
// It is fed by one goroutine, which alone uses the streams until they are done.
type Split struct {
	streams map[string]*Stream // by the start of their lines
	strays  *Stream            // takes the lines that are nobody's, to find fault with them
}

// lineStart is what every line with a string as its id begins with, up to the id's first byte.
const lineStart = `{"id":"`

// NewSplit returns a Split over at least one stream. The id of each is a string without escapes.
func NewSplit(streams []*Stream) *Split {
	s := &Split{streams: make(map[string]*Stream, len(streams)), strays: streams[0]}
	for _, stream := range streams {
		s.streams[`{"id":`+stream.options.ID] = stream
	}
	return s
}

// ReadLines takes whole lines, as Stream.ReadLines does.
func (s *Split) ReadLines(block []byte, at int64) {
	for len(block) > 0 {
		start := startOf(block)
		end := rowEnd(block, start)
		stream := s.streams[string(start)]
		if stream == nil {
			stream = s.strays
		}
		stream.ReadLines(block[:end], at)
		block = block[end:]
	}
}

// startOf returns the beginning of the first line up to the end of its id, or nothing.
func startOf(block []byte) []byte {
	if !bytes.HasPrefix(block, []byte(lineStart)) {
		return nil
	}
	idBytes := bytes.IndexByte(block[len(lineStart):], '"')
	return block[:len(lineStart)+idBytes+1]
}

// rowEnd returns where the lines end that begin alike; one line where they have no such beginning.
func rowEnd(block, start []byte) (end int) {
	for {
		line := bytes.IndexByte(block[end:], '\n') + 1
		if line == 0 {
			return len(block)
		}
		end += line
		if len(start) == 0 || !bytes.HasPrefix(block[end:], start) {
			return end
		}
	}
}

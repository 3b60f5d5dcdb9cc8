package verify

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
)

// FuzzStream holds the fast comparison to the full parse: both must give the same account of any
// output, however it is cut into blocks.
func FuzzStream(f *testing.F) {
	f.Add([]byte(chunks(0, 1, 2)+result(3)), uint(1))
	f.Add([]byte(chunks(0, 2, 1)+result(3)), uint(2))
	f.Add([]byte(chunks(0)+fmt.Sprintf(chunkLine, text(1, 2))+result(3)), uint(3))
	f.Add([]byte(chunks(0, 1)+`{"id":"1","type":"event","event":"llm_chunk","step":0,"delta":" 0\u00302"}`+"\n"), uint(1))
	f.Add([]byte(fmt.Sprintf(frameLine, text(0))+fmt.Sprintf(frameLine, text(1))+"data: [DONE]\n"), uint(4))
	f.Fuzz(func(t *testing.T, output []byte, linesPerBlock uint) {
		for _, format := range []Format{NDJSON, SSE} {
			options := Options{Format: format, ID: `"1"`}
			fast, slow := NewStream(options), NewStream(options)
			for _, block := range blocks(output, linesPerBlock%8+1) {
				fast.ReadLines(block, 1)
			}
			for _, line := range blocks(output, 1) {
				slow.head = nil
				slow.ReadLines(line, 1)
			}
			if got, want := fast.Report(3), slow.Report(3); !reflect.DeepEqual(got, want) {
				t.Errorf("fast: %+v\nslow: %+v", got, want)
			}
		}
	})
}

// blocks cuts output after every count lines.
func blocks(output []byte, count uint) [][]byte {
	var cut [][]byte
	start, position, lines := 0, 0, uint(0)
	for line := range bytes.Lines(output) {
		position += len(line)
		if lines++; lines%count == 0 {
			cut = append(cut, output[start:position])
			start = position
		}
	}
	if start < len(output) {
		cut = append(cut, output[start:])
	}
	return cut
}

package gateway

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/internal/wire"
	"sluice/sources/sse"
)

// told reads a stream in pieces of the given sizes, in turn, and tells what it brought: with frames
// recognised as a whole and by their template, or each through the decoder and the JSON parser.
func told(stream []byte, sizes []int, fast bool) string {
	r := newReader()
	var b strings.Builder
	tell := func() {
		for _, token := range r.tokens.Items {
			fmt.Fprintf(&b, "%d %t %s|", token.Kind, token.Plain, token.Raw)
		}
		r.reset()
	}
	for i := 0; len(stream) > 0 && !r.ended; i++ {
		n := min(len(stream), 1+sizes[i%len(sizes)])
		// Each piece is read into memory of its own, which is overwritten behind it, as a buffer is.
		piece := append([]byte(nil), stream[:n]...)
		stream = stream[n:]
		err := readPiece(r, piece, fast)
		tell()
		for j := range piece {
			piece[j] = '#'
		}
		if err != nil {
			return fmt.Sprint(b.String(), err)
		}
	}
	err := r.finish()
	tell()
	return fmt.Sprint(b.String(), r.ended, err)
}

func readPiece(r *reader, piece []byte, fast bool) error {
	if fast {
		return r.read(piece)
	}
	return r.decoder.Decode(piece, func(e sse.Event) error {
		r.template = template{}
		return r.takeEvent(e)
	})
}

// odd are pieces of a stream that must not be taken for what they look like.
func odd(rnd *rand.Rand) string {
	alike := dataOf("x")
	list := []string{
		frameOf("x"), frameOf(" two"), frameOf(""), frameOf(`\n\u00e9`), frameOf("é\u2028"), frameOf(`\`), frameOf("\xff"), frameOf(`a"b`), frameOf(`a\"b`),
		"data: {\"content\":\"later\",\"type\":\"data\"}\n\n", "data: {\"type\":\"data\",\"content\":null}\n\n", "data: {\"type\":\"error\",\"detail\":\"x\"}\n\n",
		"data:" + alike + "\n\n", "data:  " + alike + "\n\n", "data: " + alike + "\r\n\r\n", "data:" + alike + "\r\n\r\n", "data: " + alike + "\r\r", "data: " + alike + "\n\r\n",
		"data: " + alike + "\r\n\n", "data: " + alike + "\n", "event: tool\ndata: " + alike + "\n\n", "event: message\ndata: " + alike + "\n\n", "event: log\n", ": beat\n\n", ": beat\r\n\r\n",
		"\n", "\n\n", "\r", "\r\n", "data: {\"type\":\ndata: \"data\",\"content\":\"two lines\"}\n\n", "id: 7\n", "\xef\xbb\xbf", "data\n\n", "data: {\"type\":\"end\"}\n\n",
		"data: " + alike[:12], "event: node_status\ndata: {\"node_id\":1}\n\n", "event: log\ndata: plain\n\n",
	}
	if rnd.IntN(3) > 0 {
		return frameOf(fmt.Sprintf(" w%d안", rnd.IntN(1000)))
	}
	return list[rnd.IntN(len(list))]
}

func TestTheFastPathMeansWhatTheParserSays(t *testing.T) {
	for range 3000 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 1))
		var stream strings.Builder
		for range 1 + rnd.IntN(40) {
			stream.WriteString(odd(rnd))
		}
		sizes := []int{rnd.IntN(20), rnd.IntN(600), rnd.IntN(5000)}
		got, want := told([]byte(stream.String()), sizes, true), told([]byte(stream.String()), sizes, false)
		if got != want {
			t.Fatalf("seed %d\nstream %q\ngot  %s\nwant %s", seed, stream.String(), got, want)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(frameOf("a")+frameOf("b")+"data: {\"type\":\"end\"}\n\n"), 7)
	f.Add([]byte(frameOf("a")+"data: "+dataOf("b")+"\n: c\n\n"+frameOf("c")), 300)
	f.Add([]byte(strings.ReplaceAll(frameOf("a")+frameOf("b")+"event: tool\n"+frameOf("c"), "\n", "\r\n")), 40)
	f.Add([]byte("data: {\"type\":\"data\",\ndata: \"content\":\"a\"}\n\ndata: {\"type\":\"data\",\n\"content\":\"a\"}\n\n"), 500)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		sizes := []int{max(0, size%1000), 30, 400}
		if got, want := told(stream, sizes, true), told(stream, sizes, false); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestMostTextsAreRecognisedAsAWhole(t *testing.T) {
	for name, end := range map[string]string{"LF": "\n\n", "CRLF": "\r\n\r\n"} {
		var stream strings.Builder
		for i := range 1000 {
			stream.WriteString("data: " + dataOf(fmt.Sprintf(" 안%d🙂", i)) + end)
		}
		r := newReader()
		taken := 0
		take := r.take
		r.take = func(e sse.Event) error { taken++; return take(e) }
		if err := r.read([]byte(stream.String())); err != nil || len(r.tokens.Items) != 1000 || taken != 1 || r.full != 1 {
			t.Errorf("%s: %v, %d tokens, %d through the decoder, %d parsed", name, err, len(r.tokens.Items), taken, r.full)
		}
	}
}

// TestTextsBehindOtherFrames: what comes between texts costs no second parse of theirs.
func TestTextsBehindOtherFrames(t *testing.T) {
	r := newReader()
	for i := range 100 {
		_ = r.read([]byte(frameOf("a") + "event: log\ndata: x\n\n: beat\n\n" + frameOf("b")))
		if len(r.tokens.Items) != 3 || r.tokens.Items[1].Kind != wire.TokenFrame || string(r.tokens.Items[2].Raw) != "b" {
			t.Fatalf("%d: %v", i, r.tokens.Items)
		}
		r.reset()
	}
	if r.full != 101 {
		t.Errorf("%d frames were parsed", r.full)
	}
}

func TestBigFramesAreLetGo(t *testing.T) {
	r := newReader()
	for _, piece := range []string{"data: " + dataOf(strings.Repeat("x", 5<<20))[:3<<20], strings.Repeat("x", 2<<20) + `"}` + "\n\n", frameOf("a")} {
		if err := r.read([]byte(piece)); err != nil {
			t.Fatal(err)
		}
		r.reset()
	}
	if cap(r.texts) > keptTexts || cap(r.template.prefix) > 100 {
		t.Errorf("%d bytes are kept", cap(r.texts))
	}
	if err := r.read([]byte("data: " + strings.Repeat("x", maxFrameBytes))); !errors.Is(err, sse.ErrFrameTooLarge) {
		t.Errorf("got %v", err)
	}
}

package llama

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/sources/sse"
)

// read decodes a stream in pieces of the given sizes, in turn, and tells what it read: with events
// recognised as a whole, or through the decoder alone.
func read(stream []byte, sizes []int, whole bool) string {
	s := &Stream{}
	decoder := sse.New(sse.Options{})
	var told strings.Builder
	for i := 0; len(stream) > 0; i++ {
		n := min(len(stream), 1+sizes[i%len(sizes)])
		// Each piece is read into memory of its own, which is overwritten behind it, as a buffer is.
		piece := append([]byte(nil), stream[:n]...)
		stream = stream[n:]
		var err error
		if whole {
			err = s.decode(decoder, piece, s.take)
		} else {
			err = decoder.Decode(piece, s.take)
		}
		for _, token := range s.tokens.Items {
			fmt.Fprintf(&told, "%d %t %s|", token.Kind, token.Plain, token.Raw)
		}
		if s.tokens.Finish != "" || s.tokens.Usage != nil || len(s.tokens.Calls) > 0 {
			fmt.Fprintf(&told, "%s %v %v|", s.tokens.Finish, s.tokens.Usage, s.tokens.Calls)
		}
		s.tokens.Reset()
		s.texts = s.texts[:0]
		for j := range piece {
			piece[j] = '#'
		}
		if err != nil {
			fmt.Fprintf(&told, "error %v", err)
			break
		}
		if s.done {
			break
		}
	}
	return fmt.Sprint(told.String(), " done ", s.done)
}

// odd are events that must not be taken for what they look like.
func odd(rnd *rand.Rand) string {
	alike := content(`"x"`)
	list := []string{
		event(alike), event(content(`" two"`)), event(content(`""`)), event(content(`"\n\u00e9"`)), event(content(`"é"`)),
		event(rendered(`{"content":"later"}`, "null", 2, "")), event(rendered(`{"reasoning_content":"r"}`, "null", 1, "")),
		"data:" + alike + "\n\n", "data:  " + alike + "\n\n", "data: " + alike + "\r\n\r\n", "data: " + alike + "\r\r",
		"data: " + alike + "\n\r\n", "data: " + alike + "\n", "event: other\ndata: " + alike + "\n\n", ": ping\n\n", "\n", "\n\n", "\r",
		"data: " + strings.Replace(alike, `,"index"`, ",\ndata: \"index\"", 1) + "\n\n", "id: 7\n", "\xef\xbb\xbf",
		event(rendered(`{"tool_calls":[{"index":0,"function":{"arguments":"x"}}]}`, "null", 1, "")),
		event(rendered(`{}`, `"stop"`, 1, "")), event(`{"error":{"message":"m"}}`), "data\n\n", event("[DONE]"), event(alike[:40]),
	}
	if rnd.IntN(3) > 0 {
		return event(content(fmt.Sprintf(`" w%d"`, rnd.IntN(1000))))
	}
	return list[rnd.IntN(len(list)-rnd.IntN(6))]
}

func TestWholeEventsMeanWhatTheDecoderSays(t *testing.T) {
	for range 3000 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 1))
		var stream strings.Builder
		for range 1 + rnd.IntN(40) {
			stream.WriteString(odd(rnd))
		}
		sizes := []int{rnd.IntN(20), rnd.IntN(600), rnd.IntN(5000)}
		got, want := read([]byte(stream.String()), sizes, true), read([]byte(stream.String()), sizes, false)
		if got != want {
			t.Fatalf("seed %d\nstream %q\ngot  %s\nwant %s", seed, stream.String(), got, want)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte(event(content(`"a"`))+event(content(`"b"`))+event("[DONE]")), 7)
	f.Add([]byte(event(content(`"a"`))+"data: "+content(`"b"`)+"\n: c\n\n"+event(content(`"c"`))), 300)
	f.Add([]byte("data: {\"choices\":[\ndata: {\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[\n{\"delta\":{\"content\":\"a\"}}]}\n\n"), 500)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		sizes := []int{max(0, size%1000), 30, 400}
		if got, want := read(stream, sizes, true), read(stream, sizes, false); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestMostEventsAreRecognisedAsAWhole(t *testing.T) {
	var stream strings.Builder
	for i := range 1000 {
		stream.WriteString(event(content(fmt.Sprintf(`" w%d"`, i))))
	}
	s := &Stream{}
	decoder := sse.New(sse.Options{})
	taken := 0
	take := func(e sse.Event) error { taken++; return s.take(e) }
	if err := s.decode(decoder, []byte(stream.String()), take); err != nil || len(s.tokens.Items) != 1000 || taken != 1 {
		t.Errorf("%v, %d tokens, %d through the decoder", err, len(s.tokens.Items), taken)
	}
}

// Package tokens defines the text that the load server streams and the verifier expects.
//
// Every token has a fixed width and carries its position in the stream, so that a lost, repeated or
// reordered token is seen wherever it ends up, also inside a delta that joins many of them. Paced
// tokens also carry the time of their sending. The text is plain ASCII that JSON never escapes.
// All functions are pure.
package tokens

const (
	// PlainWidth is the length in bytes of a token without a time: a space and the sequence number.
	PlainWidth = 1 + sequenceDigits
	// TimedWidth is the length in bytes of a token that ends with its send time.
	TimedWidth = PlainWidth + timeDigits
	// Limit is the number of tokens that can be told apart within one stream.
	Limit = 1 << (6 * sequenceDigits)

	sequenceDigits = 4  // base 64
	timeDigits     = 19 // decimal nanoseconds, all of an int64
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
	notADigit      = 0xff
)

var digitValues = func() (values [256]byte) {
	for i := range values {
		values[i] = notADigit
	}
	for i := range len(alphabet) {
		values[alphabet[i]] = byte(i)
	}
	return values
}()

// PutPlain writes the plain token of a sequence number below Limit over the first PlainWidth bytes of text.
func PutPlain(text []byte, sequence int) {
	_ = text[PlainWidth-1]
	text[0] = ' '
	text[1] = alphabet[sequence>>18&63]
	text[2] = alphabet[sequence>>12&63]
	text[3] = alphabet[sequence>>6&63]
	text[4] = alphabet[sequence&63]
}

// PutTimed writes a token over the first TimedWidth bytes of text; sentAt is in nanoseconds and not negative.
func PutTimed(text []byte, sequence int, sentAt int64) {
	PutPlain(text, sequence)
	for i := TimedWidth - 1; i >= PlainWidth; i-- {
		text[i] = byte('0' + sentAt%10)
		sentAt /= 10
	}
}

// Sequence reads the sequence number of the token that starts text. It reports false when text
// doesn't start with a token.
func Sequence(text []byte) (int, bool) {
	if len(text) < PlainWidth || text[0] != ' ' {
		return 0, false
	}
	a, b := digitValues[text[1]], digitValues[text[2]]
	c, d := digitValues[text[3]], digitValues[text[4]]
	if a|b|c|d >= 64 {
		return 0, false
	}
	return int(a)<<18 | int(b)<<12 | int(c)<<6 | int(d), true
}

// SentAt reads the send time, in nanoseconds, of the timed token that starts text.
func SentAt(text []byte) (int64, bool) {
	if len(text) < TimedWidth {
		return 0, false
	}
	var sentAt int64
	for _, digit := range text[PlainWidth:TimedWidth] {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		sentAt = sentAt*10 + int64(digit-'0')
	}
	return sentAt, true
}

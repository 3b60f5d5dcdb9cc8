package wire

// ID is a request's correlation id as its JSON text: `7`, `"a"` or `null`. The empty ID stands for
// null too: the id could not be read. Ids are equal when their texts are: `1`, `1.0` and `"1"` differ.
type ID string

// AppendID appends the id byte for byte as it was written, but for what may not stand raw in a line
// of ours: U+0085, U+2028 and U+2029, and with ascii everything outside ASCII, are escaped.
func AppendID(dst []byte, id ID, ascii bool) []byte {
	if id == "" {
		return append(dst, "null"...)
	}
	for i := 0; i < len(id); {
		if id[i] < 0x80 {
			dst = append(dst, id[i])
			i++
			continue
		}
		r, size := decodeRune(string(id[i:]))
		if ascii || r == 0x85 || r == 0x2028 || r == 0x2029 {
			dst = appendRune(dst, r, true)
		} else {
			dst = append(dst, id[i:i+size]...)
		}
		i += size
	}
	return dst
}

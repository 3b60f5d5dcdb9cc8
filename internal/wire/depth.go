package wire

// MaxDepth is how deep arrays and objects may be nested in JSON that others wrote: gjson's validation
// recurses, and a stack that overflows ends the process.
const MaxDepth = 512

// TooDeep reports whether text is nested deeper than MaxDepth: it counts brackets outside strings. Of
// text that is no JSON it may say anything.
func TooDeep(text []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			inString = !inString
		case '\\':
			if inString {
				i++
			}
		case '[', '{':
			if !inString {
				depth++
			}
		case ']', '}':
			if !inString {
				depth--
			}
		}
		if depth > MaxDepth {
			return true
		}
	}
	return false
}

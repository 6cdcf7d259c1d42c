package vt

// decodeStatus says what decodeRune found.
type decodeStatus uint8

const (
	decodeFull    decodeStatus = iota // a code point of n bytes
	decodeInvalid                     // n bytes that are a maximal ill-formed subpart (Unicode 3.9, U+FFFD each)
	decodePartial                     // all n bytes are the beginning of a code point
)

// decodeRune decodes the non-empty p. It never looks at a byte behind the first that cannot go on.
func decodeRune(p []byte) (r rune, n int, status decodeStatus) {
	b := p[0]
	lo, hi := byte(0x80), byte(0xbf)
	var need int
	switch {
	case b < 0x80:
		return rune(b), 1, decodeFull
	case b < 0xc2 || b > 0xf4:
		return replacement, 1, decodeInvalid
	case b < 0xe0:
		need, r = 1, rune(b&0x1f)
	case b < 0xf0:
		need, r = 2, rune(b&0x0f)
		switch b {
		case 0xe0:
			lo = 0xa0 // no overlong forms
		case 0xed:
			hi = 0x9f // no surrogates
		}
	default:
		need, r = 3, rune(b&0x07)
		switch b {
		case 0xf0:
			lo = 0x90 // no overlong forms
		case 0xf4:
			hi = 0x8f // nothing over U+10FFFF
		}
	}
	for i := 1; i <= need; i++ {
		if i == len(p) {
			return replacement, i, decodePartial
		}
		c := p[i]
		if c < lo || c > hi {
			return replacement, i, decodeInvalid
		}
		lo, hi = 0x80, 0xbf
		r = r<<6 | rune(c&0x3f)
	}
	return r, need + 1, decodeFull
}

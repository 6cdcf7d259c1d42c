package vt

//go:generate go run -C internal/widthgen . ../../width_table.go

// The bits of a code point's properties. internal/widthgen writes the table and has the same names.
const (
	propWidth       = 3      // columns by itself: 0 joins what is before it
	propJoins       = 1 << 2 // may join any cell before it: modifiers, spacing marks, regional indicators
	propJoinsAfter  = 1 << 3 // may join a cluster or a Hangul leader before it: pictographs, consonants, syllables
	propHangulL     = 1 << 4 // a Hangul leader
	propEmojiNarrow = 1 << 5 // one column, two with U+FE0F behind it
	propDisputed    = 1 << 6 // terminals differ about the width
)

const (
	variationEmoji = 0xfe0f // VS16, asks for emoji presentation
	regionalFirst  = 0x1f1e6
	regionalLast   = 0x1f1ff
	replacement    = 0xfffd
)

// propOf returns the properties of r, 0 <= r <= 0x10ffff.
func propOf(r rune) byte {
	return propBlocks[int(propIndex[r>>8])<<8|int(r&0xff)]
}

// RuneWidth returns the columns r takes by itself: 0, 1 or 2.
func RuneWidth(r rune) int {
	if r < 0 || r > 0x10ffff {
		return 1
	}
	return int(propOf(r) & propWidth)
}

// Disputed reports whether terminals are known to give the cell's text different widths: after it a painter must not
// trust where a foreign cursor stands.
func (c Cell) Disputed() bool {
	if c.ch() < 0x80 {
		return false
	}
	return c.ch()&clusterBit != 0 || propOf(rune(c.ch()))&propDisputed != 0
}

// MayJoin reports whether c, printed directly behind prev, might become one cluster with it, so that a painter has to
// keep the two apart by placing the cursor between them.
func (c Cell) MayJoin(prev Cell) bool {
	if c.ch() < 0x300 {
		return false
	}
	r := rune(c.ch())
	if c.ch()&clusterBit != 0 {
		return true
	}
	p := propOf(r)
	return p&propJoins != 0 ||
		p&propJoinsAfter != 0 && (prev.ch()&clusterBit != 0 || propOf(rune(prev.ch()))&propHangulL != 0)
}

// clusterWidth returns the columns of a cluster in grapheme mode: the widest of its code points; two for a pair of
// regional indicators, and for a narrow emoji with VS16.
func clusterWidth(s []byte) int {
	width, first, second := 0, rune(0), rune(0)
	for i, n := 0, 0; len(s) > 0; i++ {
		var r rune
		r, n, _ = decodeRune(s)
		s = s[n:]
		switch i {
		case 0:
			first = r
		case 1:
			second = r
		}
		width = max(width, RuneWidth(r))
	}
	switch {
	case isRegional(first) && isRegional(second):
		return 2
	case second == variationEmoji && propOf(first)&propEmojiNarrow != 0:
		return 2
	}
	return width
}

func isRegional(r rune) bool { return r >= regionalFirst && r <= regionalLast }

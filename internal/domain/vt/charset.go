package vt

// charset is what a designation (ESC ( x) names.
type charset uint8

const (
	charsetASCII charset = iota
	charsetDEC           // special graphics: line drawing
	charsetUK
)

// decGraphics is what 0x5f to 0x7e show in the DEC special graphics set.
var decGraphics = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

func (c charset) translate(r rune) rune {
	switch {
	case c == charsetDEC && r >= 0x5f && r <= 0x7e:
		return decGraphics[r-0x5f]
	case c == charsetUK && r == '#':
		return '£'
	}
	return r
}

// designate carries out ESC ( ) * + and a final byte. Sets it does not have count as ASCII.
func (t *Terminal) designate(slot int, final byte) {
	cs := charsetASCII
	switch final {
	case '0':
		cs = charsetDEC
	case 'A':
		cs = charsetUK
	}
	t.charsets[slot] = cs
	t.updateSlow()
}

func (t *Terminal) shift(slot uint8) {
	t.gl = slot
	t.updateSlow()
}

// updateSlow keeps slowPrint, which sends ASCII around the fast path.
func (t *Terminal) updateSlow() {
	t.slowPrint = t.insertMode || t.singleShift != 0 || t.charsets[t.gl] != charsetASCII
}

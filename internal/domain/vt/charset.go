package vt

// charset is what a designation (ESC ( x) names.
type charset uint8

const (
	charsetASCII  charset = iota
	charsetDEC            // special graphics: line drawing
	charsetLatin1         // the right half of ISO 8859-1
	charsetUK             // the first of the national sets
	charsetDutch          // this and further ones count while DECNRCM is set
	charsetFinnish
	charsetFrench
	charsetFrenchCanadian
	charsetGerman
	charsetItalian
	charsetNorwegian
	charsetPortuguese
	charsetSpanish
	charsetSwedish
	charsetSwiss
)

// decGraphics is what 0x5f to 0x7e show in the DEC special graphics set.
var decGraphics = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// translate returns what a character of the set shows.
func (c charset) translate(r rune) rune {
	switch {
	case c == charsetDEC:
		if r >= 0x5f && r <= 0x7e {
			return decGraphics[r-0x5f]
		}
	case c == charsetLatin1:
		return r + 0x80
	case c >= charsetUK:
		return nationalRune(c, r)
	}
	return r
}

// designate makes a set one of G0 to G3.
func (t *Terminal) designate(slot int, cs charset) {
	t.charsets[slot] = cs
	t.updateSlow()
}

// set94 returns the set of 94 characters that a final byte names. Sets that are not here count as ASCII.
func set94(final byte) charset {
	switch final {
	case '0':
		return charsetDEC
	case 'A':
		return charsetUK
	case '4':
		return charsetDutch
	case 'C', '5':
		return charsetFinnish
	case 'R', 'f':
		return charsetFrench
	case 'Q', '9':
		return charsetFrenchCanadian
	case 'K':
		return charsetGerman
	case 'Y':
		return charsetItalian
	case 'E', '6', '`':
		return charsetNorwegian
	case 'Z':
		return charsetSpanish
	case 'H', '7':
		return charsetSwedish
	case '=':
		return charsetSwiss
	}
	return charsetASCII
}

// set96 is set94 for sets of 96 characters.
func set96(final byte) charset {
	if final == 'A' {
		return charsetLatin1
	}
	return charsetASCII
}

func (t *Terminal) shift(slot uint8) {
	t.gl = slot
	t.updateSlow()
}

// updateSlow keeps slowPrint, which sends ASCII around the fast path.
func (t *Terminal) updateSlow() {
	t.slowPrint = t.insertMode || t.singleShift != 0 || t.charsets[t.gl] != charsetASCII
}

// charset returns the set in G0 to G3 that is in effect.
func (t *Terminal) charset(slot uint8) charset {
	cs := t.charsets[slot]
	if cs > charsetUK && !t.nationalSets {
		return charsetASCII
	}
	return cs
}

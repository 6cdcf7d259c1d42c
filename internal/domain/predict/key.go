package predict

import (
	"time"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/vt"
)

// kind is what a key is guessed to do.
type kind uint8

const (
	keyBreak kind = iota // nobody knows: a new epoch begins behind it
	keyEnter             // keyBreak, and the line that is typed next begins where the cursor then is
	keyPrint
	keyErase
	keyLeft
	keyRight
)

func (k kind) breaks() bool { return k <= keyEnter }

// key is one key in flight.
type key struct {
	kind  kind
	r     rune
	width int
	end   uint64 // position behind its last byte
	at    time.Time
	// Where the character goes on the screen, and whether its place tells anything, as it was guessed last: of a
	// character, that the base shows something else there, and who shows it knows that it was typed; of the other keys,
	// that they erase or pass one that does not stand for a password's.
	row, col int
	news     bool
}

// where is where in a sequence the parser is.
type where uint8

const (
	ground where = iota
	inEscape
	inControl // behind ESC [
	inSingle  // behind ESC O
)

// parser finds keys in what the user types.
type parser struct {
	at    where
	plain bool // the control sequence has had no parameters
	raw   int  // bytes of a report of the mouse that are still to come
	part  [utf8.UTFMax]byte
	parts int
}

// next takes one byte and returns the key that it completes.
func (p *parser) next(b byte) (k key, whole bool) {
	if p.raw > 0 {
		p.raw--
		return key{kind: keyBreak}, true
	}
	switch p.at {
	case inEscape:
		return p.escape(b)
	case inControl:
		if b < 0x40 || b > 0x7e {
			p.plain = false
			return k, false
		}
		return p.final(b, p.plain), true
	case inSingle:
		return p.final(b, true), true
	case ground:
	}
	if p.parts > 0 || b >= utf8.RuneSelf {
		return p.rune(b)
	}
	switch {
	case b == 0x1b:
		p.at = inEscape
		return k, false
	case b == 0x7f || b == '\b':
		return key{kind: keyErase}, true
	case b == '\r' || b == '\n' || b == 0x03 || b == 0x04 || b == '\f' || b == 0x1a:
		return key{kind: keyEnter}, true
	case b < 0x20:
		return key{kind: keyBreak}, true
	}
	return key{kind: keyPrint, r: rune(b), width: 1}, true
}

func (p *parser) escape(b byte) (k key, whole bool) {
	switch b {
	case '[':
		p.at, p.plain = inControl, true
		return k, false
	case 'O':
		p.at = inSingle
		return k, false
	}
	p.at = ground
	return key{kind: keyBreak}, true
}

func (p *parser) final(b byte, plain bool) key {
	p.at = ground
	switch {
	case plain && b == 'C':
		return key{kind: keyRight}
	case plain && b == 'D':
		return key{kind: keyLeft}
	case plain && b == 'M': // of the mouse: three bytes follow, which nobody typed
		p.raw = 3
	}
	return key{kind: keyBreak}
}

func (p *parser) rune(b byte) (k key, whole bool) {
	p.part[p.parts] = b
	p.parts++
	if !utf8.FullRune(p.part[:p.parts]) {
		return k, false
	}
	r, n := utf8.DecodeRune(p.part[:p.parts])
	whole = n == p.parts && r != utf8.RuneError
	p.parts = 0
	if width := vt.RuneWidth(r); whole && width > 0 {
		return key{kind: keyPrint, r: r, width: width}, true
	}
	return key{kind: keyBreak}, true
}

// cut is called where the bytes end for now: what has begun of a sequence may be all there is, like an Escape.
func (p *parser) cut() bool { return p.at != ground }

// telling reports whether a program that shows r knows that r was typed: a blank, or what stands for the characters of
// a password, says nothing.
func telling(r rune) bool {
	switch r {
	case 0, ' ', '*', '•', '●', '∗', '·', '.', '#':
		return false
	}
	return true
}

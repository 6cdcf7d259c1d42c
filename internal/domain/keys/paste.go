package keys

import "github.com/vev-term/vev/internal/domain/vt"

// The brackets of a paste (mode 2004).
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Paste cleans a paste that comes in parts, whatever they cut. Control characters but tab and the ends of lines go, C1
// (U+0080 to U+009F) too, so that the text can neither end its brackets nor press a key; an end of line, LF, CR or CR LF,
// becomes what Enter sends. Bytes that are no UTF-8 stay, but for a 0xC2 that begins nothing: what is taken out behind it
// could make it begin a control. The zero Paste is at the begin of one.
type Paste struct {
	cr bool // the last byte was CR
	c2 bool // 0xC2 waits for what it begins
}

// Append appends a part of the text as the program is to have it.
func (p *Paste) Append(dst, text []byte) []byte {
	for _, c := range text {
		if p.c2 {
			p.c2 = false
			if c >= 0x80 && c <= 0x9f {
				continue
			}
			if c >= 0xa0 && c <= 0xbf {
				dst = append(dst, 0xc2)
			}
		}
		cr := p.cr
		p.cr = c == '\r'
		switch {
		case c == '\n' && cr:
		case c == '\n' || c == '\r':
			dst = append(dst, '\r')
		case c == 0xc2:
			p.c2 = true
		case c < 0x20 && c != '\t', c == 0x7f:
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Begin appends what goes before a paste: the bracket, where the program asked for it.
func (p *Paste) Begin(dst []byte, m vt.Modes) []byte {
	*p = Paste{}
	if m.BracketedPaste {
		dst = append(dst, pasteBegin...)
	}
	return dst
}

// End appends what goes behind a paste: the bracket, where the program asked for it.
func (p *Paste) End(dst []byte, m vt.Modes) []byte {
	*p = Paste{}
	if m.BracketedPaste {
		dst = append(dst, pasteEnd...)
	}
	return dst
}

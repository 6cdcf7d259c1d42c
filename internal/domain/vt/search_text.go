package vt

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
	"unicode/utf8"
)

const (
	// rowCost is what a row costs of a budget beside its text.
	rowCost = 8
	// plainBytes are the bytes of text without styles that cost 1.
	plainBytes = 4
)

// linesEnd returns the number behind the last line of the main screen.
func (t *Terminal) linesEnd() uint64 { return t.hist.next + uint64(t.nrows) }

// row returns line n, packed, until the next call.
func (s *Search) row(n uint64) []byte {
	h := &s.t.hist
	if n >= h.next {
		s.packed = s.t.pack(s.packed[:0], s.t.main.rows[n-h.next], chunkBytes)
		return s.packed
	}
	c, i := s.chunkOf(n)
	return c.line(i)
}

// chunkOf returns the chunk with history line n, and the line's place in it.
func (s *Search) chunkOf(n uint64) (*chunk, int) {
	chunks := s.t.hist.chunks
	if s.chunk >= len(chunks) || n < chunks[s.chunk].first || n-chunks[s.chunk].first >= uint64(chunks[s.chunk].n) {
		s.chunk = sort.Search(len(chunks), func(i int) bool { return chunks[i].first > n }) - 1
	}
	c := chunks[s.chunk]
	return c, int(n - c.first)
}

// goesOn reports whether line n goes on in the next.
func (s *Search) goesOn(n uint64) bool {
	if h := &s.t.hist; n >= h.next {
		return s.t.main.rows[n-h.next].wrapped
	}
	return s.row(n)[0]&packedWrapped != 0
}

// pieceStart returns the first row of the line that row n is of, or the farthest that one piece reaches up.
func (s *Search) pieceStart(n uint64) uint64 {
	for range maxJoinedRows - 1 {
		if n == s.t.hist.first || !s.goesOn(n-1) {
			break
		}
		n--
		s.spent += rowCost
	}
	return n
}

// gather makes the piece that begins in row n the one that is looked at, and returns the row that the next begins in.
func (s *Search) gather(n uint64) uint64 {
	s.first = n
	s.text, n = s.appendPiece(s.text[:0], n)
	blanksToSpaces(s.text)
	s.text = bytes.TrimRight(s.text, " ")
	return n
}

// appendPiece appends the text of the piece that begins in row n, blanks as they are packed, and returns the row that
// the next begins in.
func (s *Search) appendPiece(dst []byte, n uint64) ([]byte, uint64) {
	start, end, goesOn := len(dst), s.t.linesEnd(), true
	s.rows = s.rows[:0]
	for goesOn && n < end && len(s.rows) < maxJoinedRows && len(dst)-start < maxJoinedBytes {
		p := s.row(n)
		s.rows = append(s.rows, len(dst)-start)
		dst = s.appendRowText(dst, p)
		goesOn = p[0]&packedWrapped != 0
		n++
	}
	if goesOn && n < end && len(s.rows) > 1 {
		n-- // cut: the row is in both pieces
	}
	return dst, n
}

// match returns the place of a stretch of the piece's text.
func (s *Search) match(at []int) Match {
	from, _ := s.place(at[0])
	to, width := s.place(at[1] - 1)
	to.Col += width
	return Match{From: from, To: to}
}

// place returns the place of the cell that shows the byte at offset i of the piece's text, and its width.
func (s *Search) place(i int) (Place, int) {
	row := sort.SearchInts(s.rows, i+1) - 1
	at := Place{Line: s.first + uint64(row)}
	w := textWalk{p: s.row(at.Line)}
	w.begin()
	for left := i - s.rows[row]; ; {
		text, width := w.next()
		if left -= len(text); left < 0 || width == 0 {
			return at, width
		}
		at.Col += width
	}
}

// appendRowText appends the text of a packed line, blanks as they are packed.
func (s *Search) appendRowText(dst, p []byte) []byte {
	if p[0]&packedStyled == 0 {
		s.spent += rowCost + len(p)/plainBytes
		return append(dst, p[1:]...)
	}
	s.spent += rowCost + len(p)
	w := textWalk{p: p}
	w.begin()
	for {
		dst = w.appendASCII(dst)
		text, width := w.next()
		if width == 0 {
			return dst
		}
		dst = append(dst, text...)
	}
}

// appendASCII appends the text of the next cells for as long as they are a byte each.
func (w *textWalk) appendASCII(dst []byte) []byte {
	dst = slices.Grow(dst, len(w.p)+8)
	at, out := len(dst), dst[:cap(dst)]
	p, n := w.p, w.left
	for {
		for ; n >= 8 && len(p) >= 8; n, p, at = n-8, p[8:], at+8 {
			v := binary.LittleEndian.Uint64(p)
			if severalBytes(v) != 0 {
				break
			}
			binary.LittleEndian.PutUint64(out[at:], v)
		}
		if 0 < n && n < 8 && len(p) >= 8 { // the rest of a run; what is behind it is written over
			if v := binary.LittleEndian.Uint64(p); severalBytes(v<<(64-8*n)) == 0 {
				binary.LittleEndian.PutUint64(out[at:], v)
				n, p, at = 0, p[n:], at+n
			}
		}
		for ; n > 0 && len(p) > 0 && (p[0]-0x20 < 0x60 || p[0] == 0); n, p, at = n-1, p[1:], at+1 {
			out[at] = p[0]
		}
		if n > 0 || len(p) == 0 {
			break
		}
		if n, p = runHead(p); n == 0 {
			break
		}
	}
	w.p, w.left = p, n
	return out[:at]
}

// severalBytes is not 0 when one of eight bytes of text is the begin of a cell of several.
func severalBytes(v uint64) uint64 {
	const ones = 0x0101010101010101
	low := v &^ (ones * 0x80)
	return (v | (low+ones*0x7f)&^(low+ones*0x60)) & (ones * 0x80) // beyond ASCII; from 1 to 0x1f
}

// runHead reads what stands before the text of a run, and returns how many columns that has.
func runHead(p []byte) (columns int, text []byte) {
	n, kind := p[0], p[1]
	if n >= 0x80 || kind&packedSide != 0 {
		columns, k := binary.Uvarint(p)
		return int(columns), skipStyle(p[k:])
	}
	k := 2 + int(colorsBytes[kind&(packedAttr-1)])
	if kind&packedAttr != 0 {
		for p[k] >= 0x80 {
			k++
		}
		k++
	}
	return int(n), p[k:]
}

// textWalk goes over the text of a packed line (pack.go) without the tables that cells need.
type textWalk struct {
	p    []byte
	left int // columns of the run under way
}

// begin reads the line's flags.
func (w *textWalk) begin() {
	flags := w.p[0]
	w.p = w.p[1:]
	if flags&packedStyled == 0 {
		w.left = len(w.p)
	}
}

var space = []byte{' '}

// next returns the text of the next cell, a space for a blank, and how many columns it has: 0 at the end.
func (w *textWalk) next() (text []byte, width int) {
	for w.left == 0 {
		if len(w.p) == 0 {
			return nil, 0
		}
		w.left, w.p = runHead(w.p)
	}
	n, width := 1, 1
	switch b := w.p[0]; {
	case b == 0:
		text = space
	case b == packedNarrow || b == packedWide:
		n = 2 + int(w.p[1])
		text, width = w.p[2:n], int(b)
	case b < utf8.RuneSelf:
		text = w.p[:1]
	default:
		var r rune
		r, n = utf8.DecodeRune(w.p)
		text, width = w.p[:n], max(RuneWidth(r), 1)
	}
	w.p = w.p[n:]
	w.left = max(w.left-width, 0)
	return text, width
}

// skipStyle returns what follows a style.
func skipStyle(p []byte) []byte {
	kind := p[0]
	p = p[1+colorBytes[kind&3]+colorBytes[kind/packedBg&3]:]
	if kind&packedAttr != 0 {
		_, n := binary.Uvarint(p)
		p = p[n:]
	}
	if kind&packedSide != 0 {
		p = p[1+colorBytes[p[0]&3]:]
		_, p = unpackBytes(p)
		_, p = unpackBytes(p)
	}
	return p
}

// colorBytes are how many bytes a colour of a kind takes.
var colorBytes = [4]int{1: 1, 2: 3}

// colorsBytes are how many bytes the colours of a style take, by the bits that announce them.
var colorsBytes = func() (all [packedAttr]uint8) {
	for kind := range all {
		all[kind] = uint8(colorBytes[kind&3] + colorBytes[kind/packedBg&3])
	}
	return all
}()

func blanksToSpaces(b []byte) {
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			return
		}
		b[i] = ' '
		b = b[i+1:]
	}
}

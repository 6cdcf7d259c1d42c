package vt

import (
	"bytes"
	"encoding/binary"
	"sort"
	"unicode/utf8"
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
	if s.chunk >= len(h.chunks) || n < h.chunks[s.chunk].first || n-h.chunks[s.chunk].first >= uint64(h.chunks[s.chunk].n) {
		s.chunk = sort.Search(len(h.chunks), func(i int) bool { return h.chunks[i].first > n }) - 1
	}
	c := h.chunks[s.chunk]
	return c.line(int(n - c.first))
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
func (s *Search) gather(n, end uint64) uint64 {
	s.first, s.rows, s.text = n, s.rows[:0], s.text[:0]
	goesOn := true
	for goesOn && n < end && len(s.rows) < maxJoinedRows && len(s.text) < maxJoinedBytes {
		p := s.row(n)
		s.rows = append(s.rows, len(s.text))
		s.text = appendRowText(s.text, p)
		goesOn = p[0]&packedWrapped != 0
		n++
	}
	s.spent += len(s.rows)*rowCost + len(s.text)
	if goesOn && n < end && len(s.rows) > 1 {
		n-- // cut: the row is in both pieces
	}
	s.text = bytes.TrimRight(s.text, " ")
	return n
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

// appendRowText appends the text of a packed line, blanks as spaces.
func appendRowText(dst, p []byte) []byte {
	if p[0]&packedStyled == 0 {
		start := len(dst)
		dst = append(dst, p[1:]...)
		blanksToSpaces(dst[start:])
		return dst
	}
	w := textWalk{p: p}
	w.begin()
	for {
		text, width := w.next()
		if width == 0 {
			return dst
		}
		dst = append(dst, text...)
		dst = w.appendASCII(dst)
	}
}

// appendASCII appends the text of the run's next cells for as long as they are a byte each.
func (w *textWalk) appendASCII(dst []byte) []byte {
	n := 0
	for n < w.left && (w.p[n]-0x20 < 0x60 || w.p[n] == 0) {
		n++
	}
	start := len(dst)
	dst = append(dst, w.p[:n]...)
	blanksToSpaces(dst[start:])
	w.p, w.left = w.p[n:], w.left-n
	return dst
}

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
		n, k := binary.Uvarint(w.p)
		w.left = int(n)
		w.p = skipStyle(w.p[k:])
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
	p = skipColor(p[1:], kind)
	p = skipColor(p, kind/packedBg)
	if kind&packedAttr != 0 {
		_, n := binary.Uvarint(p)
		p = p[n:]
	}
	if kind&packedSide != 0 {
		p = skipColor(p[1:], p[0])
		_, p = unpackBytes(p)
		_, p = unpackBytes(p)
	}
	return p
}

func skipColor(p []byte, kind byte) []byte {
	switch kind & 3 {
	case 1:
		return p[1:]
	case 2:
		return p[3:]
	}
	return p
}

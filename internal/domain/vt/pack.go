package vt

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// A packed line is a flag byte and then, without packedStyled, a byte of ASCII for each cell (0 for a blank that was
// never written). With packedStyled it is runs of one style: uvarint columns, the style, the text. A style is a byte of
// packed... bits and what they announce. In the text of a run a cell is one byte of ASCII, 0, a UTF-8 code point of the
// width that RuneWidth says, or packedNarrow or packedWide, a length byte and that many bytes of a cluster.
const (
	packedWrapped = 1 << 0
	packedStyled  = 1 << 1
	packedEdge    = 1 << 2 // the row has one more column, see hasEdge

	packedFg   = 1 << 0 // two bits each: 0 default, 1 indexed, 2 direct
	packedBg   = 1 << 2
	packedAttr = 1 << 4
	packedSide = 1 << 5

	packedNarrow = 0x01
	packedWide   = 0x02
)

// packLevel says what is left out of a line that is too long for a chunk.
type packLevel uint8

const (
	packAll     packLevel = iota
	packNoLinks           // no hyperlinks
	packBases             // also only the first code point of each cluster: at most 20 bytes a cell
)

// pack appends the row, packed, in at most limit bytes.
func (t *Terminal) pack(dst []byte, r *Row, limit int) []byte {
	start := len(dst)
	for level := packAll; ; level++ {
		dst = t.packRuns(dst[:start], r, level, start+limit)
		if len(dst)-start <= limit || level == packBases {
			return dst
		}
	}
}

// packedFlags returns the flags of a packed row but for packedStyled.
func (r *Row) packedFlags() byte {
	switch {
	case r.hasEdge():
		return packedWrapped | packedEdge
	case r.wrapped:
		return packedWrapped
	}
	return 0
}

// packRuns appends the row packed at that level, and stops behind the first run that goes over end: how much the links
// of a row take together knows no better limit.
func (t *Terminal) packRuns(dst []byte, r *Row, level packLevel, end int) []byte {
	dst = append(dst, packedStyled|r.packedFlags())
	cells := r.cells[:r.keptEnd()]
	for len(cells) > 0 && len(dst) <= end {
		first, at, n := cells[0], len(dst), 0
		dst = t.packStyle(append(dst, 0), first, level)
		for _, c := range cells {
			if !sameRun(c, first) {
				break
			}
			n++
			switch ch := c.ch(); {
			case ch-0x20 < 0x5f:
				dst = append(dst, byte(ch))
			case c.ext()&spacerFlag != 0:
			case ch == 0:
				dst = append(dst, 0)
			case ch-0x1000 < 0xd000-0x1000 && RuneWidth(rune(ch)) == int(1+c.ext()/wideFlag&1): // most wide characters
				dst = append(dst, 0xe0|byte(ch>>12), 0x80|byte(ch>>6)&0x3f, 0x80|byte(ch)&0x3f)
			default:
				dst = t.packCell(dst, c, level)
			}
		}
		dst = putColumns(dst, at, n)
		cells = cells[n:]
	}
	return dst
}

// putColumns writes the columns of a run where one byte has been left for them.
func putColumns(dst []byte, at, n int) []byte {
	if n < 0x80 {
		dst[at] = byte(n)
		return dst
	}
	var b [binary.MaxVarintLen64]byte
	return slices.Replace(dst, at, at+1, b[:binary.PutUvarint(b[:], uint64(n))]...)
}

func sameRun(a, b Cell) bool {
	return (a.lo^b.lo)>>fgShift == 0 && (a.hi^b.hi)&runMask == 0
}

func (t *Terminal) packStyle(dst []byte, c Cell, level packLevel) []byte {
	at := len(dst)
	dst = append(dst, 0)
	kind := c.fg()>>24*packedFg | c.bg()>>24*packedBg
	dst = packColor(dst, c.fg())
	dst = packColor(dst, c.bg())
	if c.attr() != 0 {
		kind |= packedAttr
		dst = binary.AppendUvarint(dst, uint64(c.attr()))
	}
	if c.ext()&sideMask != 0 {
		kind |= packedSide
		underline, link := t.UnderlineColor(c), t.Link(c)
		if level >= packNoLinks {
			link = Link{}
		}
		dst = append(dst, byte(underline>>24))
		dst = packColor(dst, underline)
		dst = binary.AppendUvarint(dst, uint64(len(link.URI)))
		dst = append(dst, link.URI...)
		dst = binary.AppendUvarint(dst, uint64(len(link.ID)))
		dst = append(dst, link.ID...)
	}
	dst[at] = byte(kind)
	return dst
}

func packColor(dst []byte, c Color) []byte {
	switch c & colorTag {
	case colorIndexed:
		return append(dst, byte(c))
	case colorDirect:
		return append(dst, byte(c>>16), byte(c>>8), byte(c))
	}
	return dst
}

// packCell packs a cell that is neither ASCII nor a spacer.
func (t *Terminal) packCell(dst []byte, c Cell, level packLevel) []byte {
	wide := c.ext()&wideFlag != 0
	if c.ch()&clusterBit == 0 && wide == (RuneWidth(rune(c.ch())) == 2) {
		return utf8.AppendRune(dst, rune(c.ch()))
	}
	kind := byte(packedNarrow)
	if wide {
		kind = packedWide
	}
	dst = append(dst, kind, 0)
	at := len(dst)
	dst = t.AppendCell(dst, c)
	if level >= packBases {
		_, n := utf8.DecodeRune(dst[at:])
		dst = dst[:at+n]
	}
	dst[at-1] = byte(len(dst) - at)
	return dst
}

// unpack reads a packed line into dst, reusing its buffer. Clusters and links get numbers in the tables again; when
// those are full they are left out (no sweep: callers hold cells).
func (t *Terminal) unpack(p []byte, dst *Line) {
	flags := p[0]
	p = p[1:]
	dst.Wrapped, dst.edge = flags&packedWrapped != 0, flags&packedEdge != 0
	cells := dst.Cells[:0]
	if flags&packedStyled == 0 {
		for _, b := range p {
			cells = append(cells, Cell{lo: uint64(b)})
		}
		dst.Cells = cells
		return
	}
	for len(p) > 0 {
		n, k := binary.Uvarint(p)
		var style Cell
		style, p = t.unpackStyle(p[k:])
		for end := len(cells) + int(n); len(cells) < end; {
			var c Cell
			c, p = t.unpackCell(p, style)
			cells = append(cells, c)
			if c.ext()&wideFlag != 0 {
				spacer := style
				spacer.setExt(spacer.ext() | spacerFlag)
				cells = append(cells, spacer)
			}
		}
	}
	dst.Cells = cells
}

func (t *Terminal) unpackStyle(p []byte) (Cell, []byte) {
	kind := p[0]
	p = p[1:]
	var c Cell
	fg, p := unpackColor(p, kind)
	bg, p := unpackColor(p, kind/packedBg)
	c.setFg(fg)
	c.setBg(bg)
	if kind&packedAttr != 0 {
		v, n := binary.Uvarint(p)
		c.setAttr(Attrs(v))
		p = p[n:]
	}
	if kind&packedSide != 0 {
		var s side
		var uri, id []byte
		s.underline, p = unpackColor(p[1:], p[0])
		uri, p = unpackBytes(p)
		id, p = unpackBytes(p)
		s.link, _ = t.tables.link(uri, id)
		n, _ := t.tables.side(s)
		c.setExt(n)
	}
	return c, p
}

// unpackColor reads a colour of the kind in the two low bits.
func unpackColor(p []byte, kind byte) (Color, []byte) {
	switch kind & 3 {
	case 1:
		return Indexed(p[0]), p[1:]
	case 2:
		return RGB(p[0], p[1], p[2]), p[3:]
	}
	return 0, p
}

func unpackBytes(p []byte) (b, rest []byte) {
	n, k := binary.Uvarint(p)
	p = p[k:]
	return p[:n], p[n:]
}

func (t *Terminal) unpackCell(p []byte, style Cell) (Cell, []byte) {
	c := style
	switch b := p[0]; {
	case b == packedNarrow || b == packedWide:
		text := p[2 : 2+int(p[1])]
		c.setCh(t.cellText(text))
		if b == packedWide {
			c.setExt(c.ext() | wideFlag)
		}
		return c, p[2+len(text):]
	case b < 0x80:
		c.setCh(uint32(b))
		return c, p[1:]
	}
	r, n := utf8.DecodeRune(p)
	c.setCh(uint32(r))
	if RuneWidth(r) == 2 {
		c.setExt(c.ext() | wideFlag)
	}
	return c, p[n:]
}

// cellText returns the ch of a cell that shows text: a cluster, or its first code point when the table is full.
func (t *Terminal) cellText(text []byte) uint32 {
	r, n := utf8.DecodeRune(text)
	if n < len(text) {
		if k, ok := t.tables.cluster(text); ok {
			return clusterBit | k
		}
	}
	return uint32(r)
}

package vt

import "strconv"

// Cell is one column of a row. It is comparable, has 16 bytes and holds no pointer; its text and link are resolved by
// the [Terminal] it came from, and only until that terminal's [Terminal.Generation] changes.
//
// The zero Cell is a blank that was never written, with default colours.
type Cell struct {
	// lo is the code point, or clusterBit and an index of the cluster table, 0 for a blank that was never written; and
	// from bit 32 on the foreground.
	lo uint64
	// hi is the background; from bit 32 on the rendition and, above attrMask, flags of the engine; from bit 48 on the
	// side-table index (14 bits) and the two width flags.
	hi uint64
}

// Two words and shifts rather than a field for each: a cell travels in registers and is stored at once, while several
// narrow stores followed by a wide load of the same bytes stall the processor for each character.
const (
	fgShift   = 32
	attrShift = 32
	extShift  = 48
	chMask    = 1<<32 - 1
	bgMask    = 1<<32 - 1

	// styleMask selects from hi what Style consists of.
	styleMask = bgMask | uint64(attrMask)<<attrShift | sideMask<<extShift
	// runMask is styleMask with the engine's flags.
	runMask = bgMask | 0xffff<<attrShift | sideMask<<extShift
)

func (c Cell) ch() uint32  { return uint32(c.lo) }
func (c Cell) fg() Color   { return Color(c.lo >> fgShift) }
func (c Cell) bg() Color   { return Color(uint32(c.hi)) }
func (c Cell) attr() Attrs { return Attrs(c.hi >> attrShift) }
func (c Cell) ext() uint16 { return uint16(c.hi >> extShift) }

func (c *Cell) setCh(v uint32)  { c.lo = c.lo&^chMask | uint64(v) }
func (c *Cell) setFg(v Color)   { c.lo = c.lo&chMask | uint64(v)<<fgShift }
func (c *Cell) setBg(v Color)   { c.hi = c.hi&^bgMask | uint64(v) }
func (c *Cell) setAttr(v Attrs) { c.hi = c.hi&^(0xffff<<attrShift) | uint64(v)<<attrShift }
func (c *Cell) setExt(v uint16) { c.hi = c.hi&^(0xffff<<extShift) | uint64(v)<<extShift }

const (
	clusterBit = 1 << 31

	sideMask   = 1<<14 - 1
	wideFlag   = 1 << 14 // first of the two columns of a wide character
	spacerFlag = 1 << 15 // second column: no text of its own, same style as the first
)

// Rune returns the cell's code point, 0 for a blank that was never written or the second half of a wide character, and
// -1 for a cluster of several code points.
func (c Cell) Rune() rune {
	if c.ch()&clusterBit != 0 {
		return -1
	}
	return rune(c.ch())
}

// IsCluster reports whether the cell holds several code points.
func (c Cell) IsCluster() bool { return c.ch()&clusterBit != 0 }

// IsBlank reports whether the cell shows nothing but its background: never written, or a space.
func (c Cell) IsBlank() bool {
	return (c.ch() == 0 || c.ch() == ' ') && c.ext()&(wideFlag|spacerFlag) == 0
}

// IsWide reports whether the cell is the first of two columns of one character.
func (c Cell) IsWide() bool { return c.ext()&wideFlag != 0 }

// IsSpacer reports whether the cell is the second column of a wide character; it has no text of its own.
func (c Cell) IsSpacer() bool { return c.ext()&spacerFlag != 0 }

// UnknownCell returns a cell that is equal to no cell of any terminal.
func UnknownCell() Cell { return Cell{lo: clusterBit - 1} }

// Foreground returns the text colour.
func (c Cell) Foreground() Color { return c.fg() }

// Background returns the background colour.
func (c Cell) Background() Color { return c.bg() }

// Attrs returns the rendition, underline style included.
func (c Cell) Attrs() Attrs { return c.attr() & attrMask }

// HasSide reports whether the cell has a link or an underline colour.
func (c Cell) HasSide() bool { return c.ext()&sideMask != 0 }

// SameStyle reports whether two cells of one terminal have the same [Style].
func (c Cell) SameStyle(o Cell) bool {
	return (c.lo^o.lo)>>fgShift == 0 && (c.hi^o.hi)&styleMask == 0
}

// Erased returns the cell that an erase with style c leaves: its background and nothing else (BCE).
func (c Cell) Erased() Cell { return Cell{hi: c.hi & bgMask} }

// With returns c's style with other text: r, one column wide.
func (c Cell) With(r rune) Cell {
	c.setCh(uint32(r))
	c.setExt(c.ext() & sideMask)
	return c
}

// WithWide returns c's style with other text, two columns wide: the cells of both.
func (c Cell) WithWide(r rune) (first, spacer Cell) {
	first, spacer = c.With(r), c.With(0)
	first.setExt(first.ext() | wideFlag)
	spacer.setExt(spacer.ext() | spacerFlag)
	return first, spacer
}

// WithUnderline returns c underlined as u says.
func (c Cell) WithUnderline(u Underline) Cell {
	c.setAttr(c.attr().WithUnderline(u))
	return c
}

// Color is a default, indexed or direct colour. The zero Color is the default.
type Color uint32

const (
	colorIndexed Color = 1 << 24
	colorDirect  Color = 2 << 24
	colorTag     Color = 0xff << 24
)

// Indexed returns palette colour i.
func Indexed(i uint8) Color { return colorIndexed | Color(i) }

// RGB returns a direct colour.
func RGB(r, g, b uint8) Color { return colorDirect | Color(r)<<16 | Color(g)<<8 | Color(b) }

// Index returns the palette number and whether c is a palette colour.
func (c Color) Index() (uint8, bool) { return uint8(c), c&colorTag == colorIndexed }

// RGB returns the components and whether c is a direct colour.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c&colorTag == colorDirect
}

// String returns "" for the default colour, the number of a palette colour, or "#rrggbb".
func (c Color) String() string {
	switch c & colorTag {
	case colorIndexed:
		return strconv.Itoa(int(c & 0xff))
	case colorDirect:
		const hex = "0123456789abcdef"
		b := []byte("#000000")
		for i := range 6 {
			b[6-i] = hex[c>>(4*i)&0xf]
		}
		return string(b)
	}
	return ""
}

// Attrs is a set of renditions; the underline style is a three-bit field in it, see [Attrs.Underline].
type Attrs uint16

// The renditions.
const (
	Bold Attrs = 1 << iota
	Dim
	Italic
	Blink
	Inverse
	Hidden
	Strike
	Overline

	underlineShift       = 8
	underlineMask  Attrs = 7 << underlineShift
	attrMask             = 0xff | underlineMask

	// protected is DECSCA's flag: selective erase leaves the cell. It is no rendition.
	protected Attrs = 1 << 11
)

// Underline is the style of a cell's underline.
type Underline uint8

// The underline styles, numbered as SGR 4:n is.
const (
	UnderlineNone Underline = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// String returns the style's name, "" for none.
func (u Underline) String() string {
	switch u {
	case UnderlineSingle:
		return "single"
	case UnderlineDouble:
		return "double"
	case UnderlineCurly:
		return "curly"
	case UnderlineDotted:
		return "dotted"
	case UnderlineDashed:
		return "dashed"
	}
	return ""
}

// Underline returns the underline style.
func (a Attrs) Underline() Underline { return Underline(a & underlineMask >> underlineShift) }

// WithUnderline returns the set with another underline style.
func (a Attrs) WithUnderline(u Underline) Attrs { return a&^underlineMask | Attrs(u)<<underlineShift }

var attrNames = [...]struct {
	attr Attrs
	name string
}{
	{Bold, "bold"},
	{Dim, "dim"},
	{Italic, "italic"},
	{Blink, "blink"},
	{Inverse, "inverse"},
	{Hidden, "hidden"},
	{Strike, "strike"},
	{Overline, "overline"},
}

// Names returns the names of the renditions in a fixed order, nil when there are none. The underline has its own
// [Attrs.Underline].
func (a Attrs) Names() []string {
	var names []string
	for _, n := range attrNames {
		if a&n.attr != 0 {
			names = append(names, n.name)
		}
	}
	return names
}

// Style is everything about a cell but its text, as a comparable value that means the same in every terminal.
type Style struct {
	Fg, Bg    Color
	Underline Color // colour of the underline; the default is the text's
	Attrs     Attrs
	Link      Link
}

// Link is an OSC 8 hyperlink. Cells of one link share both fields; ID is "" when the program gave none.
type Link struct {
	URI string
	ID  string
}

package vt

import (
	"bytes"
	"strconv"
)

// Palette holds colours that a program changed (OSC 4, 10, 11, 12). A zero Color is unchanged; others are direct.
type Palette struct {
	Foreground, Background, Cursor Color
	Indexed                        [256]Color
	// Changed counts changes: equal counts of one terminal mean equal palettes.
	Changed uint64
}

// extraColors are colours that a program can set and ask for, and that show nowhere: cells of these renditions are
// drawn in the cell's own colours, and the pointer and the selection are the user's.
type extraColors struct {
	special [5]Color // OSC 5: bold, underline, blink, reverse, italic
	dynamic [7]Color // OSC 13 to 19, but 15, 16 and 18, which are the Tektronix window's
}

// The numbers of the dynamic colours.
const (
	oscForeground = 10
	oscBackground = 11
	oscCursor     = 12
	oscLastColor  = 19
)

// The colours that questions are answered with where the program changed none: what the user's own terminal shows is
// not known here.
const (
	defaultForeground = colorDirect | 0xd8d8d8
	defaultBackground = colorDirect // black
)

// baseColors are the first 16 of xterm's palette.
var baseColors = [16]Color{
	0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
}

// DefaultColor returns colour i of xterm's palette as a direct colour.
func DefaultColor(i uint8) Color {
	level := func(n uint8) uint8 {
		if n == 0 {
			return 0
		}
		return n*40 + 55
	}
	switch {
	case i < 16:
		return colorDirect | baseColors[i]
	case i < 232:
		i -= 16
		return RGB(level(i/36), level(i/6%6), level(i%6))
	}
	g := (i-232)*10 + 8
	return RGB(g, g, g)
}

// indexedColor is where colour n of OSC 4 is kept: the palette, then the special colours; nil without such a one.
func (t *Terminal) indexedColor(n uint64) *Color {
	if n < 256 {
		return &t.palette.Indexed[n]
	}
	return t.specialColor(n - 256)
}

// specialColor is where colour n of OSC 5 is kept; nil without such a one.
func (t *Terminal) specialColor(n uint64) *Color {
	if n < uint64(len(t.extra.special)) {
		return &t.extra.special[n]
	}
	return nil
}

// colorList carries out OSC 4 (first 0) and OSC 5 (first 256): pairs of a number and a colour or a question mark.
func (t *Terminal) colorList(osc int, b []byte, bell bool) {
	first := uint64(0)
	if osc == 5 {
		first = 256
	}
	for len(b) > 0 {
		var number, spec []byte
		number, b, _ = bytes.Cut(b, []byte{';'})
		spec, b, _ = bytes.Cut(b, []byte{';'})
		n, err := strconv.ParseUint(string(number), 10, 16)
		p := t.indexedColor(first + n)
		if err != nil || p == nil {
			continue
		}
		if string(spec) == "?" {
			t.replyColor(strconv.Itoa(osc)+";"+strconv.FormatUint(n, 10), t.colorInEffect(p, first+n), bell)
		} else if c, ok := parseColor(string(spec)); ok {
			t.setPaletteColor(p, c)
		}
	}
}

// colorInEffect is the colour kept at p, or the default for number n of OSC 4.
func (t *Terminal) colorInEffect(p *Color, n uint64) Color {
	switch {
	case *p != 0:
		return *p
	case n < 256:
		return DefaultColor(uint8(n))
	}
	return t.dynamicColor(oscForeground)
}

func (t *Terminal) setPaletteColor(p *Color, c Color) {
	if *p != c {
		*p = c
		t.palette.Changed++
		t.changed = true
	}
}

// resetColorList is OSC 104 and 105: the numbers given, or all.
func (t *Terminal) resetColorList(osc int, b []byte) {
	first, last := uint64(0), uint64(256)
	if osc == 105 {
		first, last = 256, 256+uint64(len(t.extra.special))
	}
	if len(bytes.Trim(b, ";")) == 0 {
		for n := first; n < last; n++ {
			t.setPaletteColor(t.indexedColor(n), 0)
		}
		return
	}
	for number := range bytes.SplitSeq(b, []byte{';'}) {
		if n, err := strconv.ParseUint(string(number), 10, 16); err == nil {
			if p := t.indexedColor(first + n); p != nil {
				t.setPaletteColor(p, 0)
			}
		}
	}
}

// dynamicColors is OSC 10 to 19: each further colour is for the next number.
func (t *Terminal) dynamicColors(n int, b []byte, bell bool) {
	for spec := range bytes.SplitSeq(b, []byte{';'}) {
		if n > oscLastColor {
			return
		}
		if string(spec) == "?" {
			if t.dynamicPlace(n) != nil {
				t.replyColor(strconv.Itoa(n), t.dynamicColor(n), bell)
			}
		} else if c, ok := parseColor(string(spec)); ok {
			t.setDynamicColor(n, c)
		}
		n++
	}
}

// dynamicPlace is where a dynamic colour is kept; nil for those of the Tektronix window, which is not here.
func (t *Terminal) dynamicPlace(n int) *Color {
	switch n {
	case oscForeground:
		return &t.palette.Foreground
	case oscBackground:
		return &t.palette.Background
	case oscCursor:
		return &t.palette.Cursor
	case 13, 14, 17, 19: // pointer foreground and background, highlight background and foreground
		return &t.extra.dynamic[n-13]
	}
	return nil
}

// dynamicColor returns the colour in effect: of the pointer, the cursor and the highlight by default that of the text
// or what is behind it.
func (t *Terminal) dynamicColor(n int) Color {
	switch c := *t.dynamicPlace(n); {
	case c != 0:
		return c
	case n == oscForeground:
		return defaultForeground
	case n == oscBackground:
		return defaultBackground
	case n == 14 || n == oscLastColor:
		return t.dynamicColor(oscBackground)
	}
	return t.dynamicColor(oscForeground)
}

func (t *Terminal) setDynamicColor(n int, c Color) {
	if p := t.dynamicPlace(n); p != nil {
		t.setPaletteColor(p, c)
	}
}

// isDark reports whether the background is darker than half of white, by the weights of ITU-R BT.601.
func (t *Terminal) isDark() bool {
	r, g, b, _ := t.dynamicColor(oscBackground).RGB()
	return 299*int(r)+587*int(g)+114*int(b) < 1000*128
}

func (t *Terminal) replyColor(what string, c Color, bell bool) {
	r, g, b, _ := c.RGB()
	t.replyf("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, r, r, g, g, b, b, stringEnd(bell))
}

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

// paletteCommand is OSC 4: pairs of a number and a colour or a question mark.
func (t *Terminal) paletteCommand(b []byte, bell bool) {
	for len(b) > 0 {
		var number, spec []byte
		number, b, _ = bytes.Cut(b, []byte{';'})
		spec, b, _ = bytes.Cut(b, []byte{';'})
		n, err := strconv.ParseUint(string(number), 10, 8)
		if err != nil {
			continue
		}
		if string(spec) == "?" {
			c := t.palette.Indexed[n]
			if c == 0 {
				c = DefaultColor(uint8(n))
			}
			t.replyColor("4;"+strconv.Itoa(int(n)), c, bell)
		} else if c, ok := parseColor(string(spec)); ok {
			t.setPaletteColor(&t.palette.Indexed[n], c)
		}
	}
}

func (t *Terminal) setPaletteColor(p *Color, c Color) {
	if *p != c {
		*p = c
		t.palette.Changed++
		t.changed = true
	}
}

// resetPalette is OSC 104: the numbers given, or all.
func (t *Terminal) resetPalette(b []byte) {
	if len(b) == 0 {
		for i := range t.palette.Indexed {
			t.setPaletteColor(&t.palette.Indexed[i], 0)
		}
		return
	}
	for number := range bytes.SplitSeq(b, []byte{';'}) {
		if n, err := strconv.ParseUint(string(number), 10, 8); err == nil {
			t.setPaletteColor(&t.palette.Indexed[n], 0)
		}
	}
}

// dynamicColors is OSC 10, 11 and 12: each further colour is for the next number.
func (t *Terminal) dynamicColors(n int, b []byte, bell bool) {
	for spec := range bytes.SplitSeq(b, []byte{';'}) {
		switch {
		case n > 12:
			return
		case string(spec) == "?":
			t.replyColor(strconv.Itoa(n), t.dynamicColor(n), bell)
		default:
			if c, ok := parseColor(string(spec)); ok {
				t.setDynamicColor(n, c)
			}
		}
		n++
	}
}

// dynamicColor returns the colour in effect.
func (t *Terminal) dynamicColor(n int) Color {
	c, def := t.palette.Cursor, defaultForeground
	switch n {
	case 10:
		c = t.palette.Foreground
	case 11:
		c, def = t.palette.Background, defaultBackground
	}
	if c == 0 {
		return def
	}
	return c
}

func (t *Terminal) setDynamicColor(n int, c Color) {
	switch n {
	case 10:
		t.setPaletteColor(&t.palette.Foreground, c)
	case 11:
		t.setPaletteColor(&t.palette.Background, c)
	case 12:
		t.setPaletteColor(&t.palette.Cursor, c)
	}
}

func (t *Terminal) replyColor(what string, c Color, bell bool) {
	end := "\x1b\\"
	if bell {
		end = "\a"
	}
	r, g, b, _ := c.RGB()
	t.replyf("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, r, r, g, g, b, b, end)
}

// parseColor reads rgb:r/g/b with one to four digits each, and #rgb to #rrrrggggbbbb. Names of colours are not known.
func parseColor(s string) (Color, bool) {
	if len(s) > 0 && s[0] == '#' {
		s = s[1:]
		n := len(s) / 3
		if n < 1 || n > 4 || len(s) != 3*n {
			return 0, false
		}
		return colorOf(s[:n], s[n:2*n], s[2*n:], false)
	}
	if len(s) < 4 || s[:4] != "rgb:" {
		return 0, false
	}
	var part [3]string
	i := 0
	for p := range bytes.SplitSeq([]byte(s[4:]), []byte{'/'}) {
		if i == 3 || len(p) < 1 || len(p) > 4 {
			return 0, false
		}
		part[i] = string(p)
		i++
	}
	if i != 3 {
		return 0, false
	}
	return colorOf(part[0], part[1], part[2], true)
}

// colorOf takes hexadecimal components. scaled: f means ff (rgb:); otherwise f0 (#), as X has it.
func colorOf(r, g, b string, scaled bool) (Color, bool) {
	var c [3]uint8
	for i, s := range [3]string{r, g, b} {
		v, err := strconv.ParseUint(s, 16, 16)
		if err != nil {
			return 0, false
		}
		digits := 4 * len(s)
		if scaled {
			v = v * 0xff / (1<<digits - 1)
		} else if v <<= 16 - digits; true {
			v >>= 8
		}
		c[i] = uint8(v)
	}
	return RGB(c[0], c[1], c[2]), true
}

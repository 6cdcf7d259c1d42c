package render

import (
	"strings"

	"github.com/vev-term/vev/internal/domain/vt"
)

// Colors is which colours a terminal can show.
type Colors uint8

// The depths of colour.
const (
	ColorsDirect Colors = iota // 24 bits
	Colors256                  // xterm's palette
	Colors16                   // the first 16 of it
	Colors8                    // the first 8 of it
	ColorsNone
)

// Capabilities are what a person's terminal can do. The zero value is an xterm-like one with direct colours.
type Capabilities struct {
	Colors Colors
	// Basic terminals get what a VT102 understands, and private modes, which all pass over that do not know them. Some
	// of them print strings (OSC), private parameters and colons as text, and do not erase or scroll by count.
	Basic bool
	// CutsLines terminals cut the lines of their main screen and history when they become narrower; others wrap them anew.
	CutsLines bool
}

// Environment is what the environment of a client says of its terminal: the variables' values, empty when not set.
type Environment struct {
	Term      string // TERM
	ColorTerm string // COLORTERM
	NoColor   string // NO_COLOR: without colours, whatever the terminal can do
	Tmux      string // TMUX: set inside tmux, whose TERM may be screen's
	XTerm     string // XTERM_VERSION: set by xterm itself, whose TERM many have
}

// basicTerms are the prefixes of TERM of basic terminals, with their colours.
var basicTerms = [...]struct {
	prefix string
	colors Colors
}{
	{"linux", Colors16},
	{"screen", Colors8},
	{"vt", ColorsNone},
	{"dumb", ColorsNone},
	{"unknown", ColorsNone},
	{"ansi", Colors8},
	{"eterm", Colors8},
	{"cons25", Colors8},
	{"cygwin", Colors8},
	{"pcansi", Colors8},
	{"sun", ColorsNone},
	{"wsvt25", Colors8},
}

// directTerms are the prefixes of TERM of terminals that show direct colours, whether COLORTERM came along or not.
var directTerms = [...]string{"xterm-kitty", "xterm-ghostty", "ghostty", "alacritty", "foot", "wezterm", "contour", "rio"}

// Capabilities returns what a terminal with that environment can do. Nothing is looked up: a name that is not known is
// an xterm-like one's, for those come up most. A terminal without a name, or a dumb one, gets the least that draws a
// screen: where somebody attaches it is more likely misnamed than on paper.
func (e Environment) Capabilities() Capabilities {
	c := e.known()
	if e.NoColor != "" {
		c.Colors = ColorsNone
	}
	c.CutsLines = c.Basic || e.XTerm != "" && e.Tmux == ""
	return c
}

func (e Environment) known() Capabilities {
	if e.Term == "" {
		return Capabilities{Colors: ColorsNone, Basic: true}
	}
	if e.Tmux == "" || !strings.HasPrefix(e.Term, "screen") {
		for _, b := range basicTerms {
			if strings.HasPrefix(e.Term, b.prefix) {
				return Capabilities{Colors: min(b.colors, e.named()), Basic: true}
			}
		}
	}
	// Not of basic ones: programs inside screen inherit the value of the terminal around it.
	if e.ColorTerm == "truecolor" || e.ColorTerm == "24bit" {
		return Capabilities{}
	}
	for _, prefix := range directTerms {
		if strings.HasPrefix(e.Term, prefix) {
			return Capabilities{}
		}
	}
	return Capabilities{Colors: min(Colors256, e.named())}
}

// named returns the colours that TERM has in its name, ColorsNone when there are none.
func (e Environment) named() Colors {
	switch {
	case strings.HasSuffix(e.Term, "-direct"):
		return ColorsDirect
	case strings.HasSuffix(e.Term, "-256color") || strings.Contains(e.Term, "-256color-"):
		return Colors256
	}
	return ColorsNone
}

// basicAttrs are what a basic terminal shows; any underline is a single one.
const basicAttrs = vt.Bold | vt.Dim | vt.Blink | vt.Inverse

// style returns the nearest to s that the terminal can show.
func (c Capabilities) style(s vt.Style) vt.Style {
	if c.Colors == ColorsDirect && !c.Basic {
		return s
	}
	s.Fg, s.Bg = c.colors(s.Fg, s.Bg)
	s.Underline = c.color(s.Underline, noColor)
	if !c.Basic {
		return s
	}
	underline := s.Attrs.Underline()
	s.Attrs &= basicAttrs
	if underline != vt.UnderlineNone {
		s.Attrs = s.Attrs.WithUnderline(vt.UnderlineSingle)
	}
	s.Underline, s.Link = 0, vt.Link{}
	return s
}

// colors returns the nearest colours that can be shown. What could be read stays readable: two colours that differ do
// not become one.
func (c Capabilities) colors(fg, bg vt.Color) (f, b vt.Color) {
	f, b = c.color(fg, noColor), c.color(bg, noColor)
	if n, ok := b.Index(); ok && f == b && fg != bg {
		f = c.color(fg, int(n))
	}
	return f, b
}

// noColor is a palette number that is none.
const noColor = -1

// color returns the nearest colour to v that can be shown, other than palette number not where there is a choice.
func (c Capabilities) color(v vt.Color, not int) vt.Color {
	if c.Colors == ColorsDirect || v == 0 {
		return v
	}
	n, indexed := v.Index()
	switch {
	case c.Colors == ColorsNone:
		return 0
	case indexed && (c.Colors == Colors256 || n < 8 || n < 16 && c.Colors == Colors16) && int(n) != not:
		return v
	case indexed:
		v = vt.DefaultColor(n)
	}
	switch c.Colors {
	case Colors256:
		return vt.Indexed(nearest256(v))
	case Colors16:
		return vt.Indexed(nearest(v, 16, not))
	}
	return vt.Indexed(nearest(v, 8, not))
}

// nearest256 returns the colour of xterm's cube or ramp of greys that is nearest to v.
func nearest256(v vt.Color) uint8 {
	r, g, b, _ := v.RGB()
	cube := 16 + 36*cubeLevel(r) + 6*cubeLevel(g) + cubeLevel(b)
	grey := 232 + uint8(max(min((int(r)+int(g)+int(b))/3-3, 230), 0)/10)
	if distance(v, vt.DefaultColor(grey)) < distance(v, vt.DefaultColor(cube)) {
		return grey
	}
	return cube
}

// cubeLevel returns which of 0, 95, 135, 175, 215 and 255 is nearest.
func cubeLevel(v uint8) uint8 {
	switch {
	case v < 48:
		return 0
	case v < 115:
		return 1
	}
	return (v - 35) / 40
}

// nearest returns which of the first n colours of the palette is nearest to v, not counting one.
func nearest(v vt.Color, n, not int) uint8 {
	best, least := 0, 1<<30
	for i := range n {
		if d := distance(v, vt.DefaultColor(uint8(i))); d < least && i != not {
			best, least = i, d
		}
	}
	return uint8(best)
}

// distance compares brightness and hue: a coloured text rather becomes darker than grey.
func distance(a, b vt.Color) int {
	y1, r1, b1 := opponents(a)
	y2, r2, b2 := opponents(b)
	y, r, bl := y1-y2, r1-r2, b1-b2
	return y*y + r*r + bl*bl
}

// opponents returns the brightness of a direct colour, and how far red and blue are from it.
func opponents(c vt.Color) (bright, red, blue int) {
	r, g, b, _ := c.RGB()
	bright = (3*int(r) + 6*int(g) + int(b)) / 10
	return bright, int(r) - bright, int(b) - bright
}

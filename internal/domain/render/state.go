package render

import (
	"github.com/vev-term/vev/internal/domain/vt"
)

// state is what the terminal was told besides cells.
type state struct {
	modes vt.Modes // those a frame has; the others zero
	title string
	// titleUnknown: the terminal has one of our titles, or another.
	titleUnknown bool

	style   vt.CursorStyle
	blink   bool
	visible bool

	palette        vt.Palette
	paletteOf      *vt.Palette // palette holds the colours of this one, as of its count
	paletteChanges uint64
}

// canonicalDefaults is the state of an engine behind a reset, which leaves the title.
func canonicalDefaults() state {
	return state{modes: vt.Modes{AltScroll: true}, visible: true, titleUnknown: true}
}

// frameModes returns the modes that a painter hands over.
func (p *Painter) frameModes(m vt.Modes) vt.Modes {
	m.Sync, m.Graphemes, m.Autowrap, m.Origin, m.Insert = false, false, false, false, false
	if p.caps.Basic {
		m.KittyFlags, m.ModifyOtherKeys, m.FormatOtherKeys, m.AltScroll = 0, 0, false, false
	}
	if p.target == UserTerminal {
		// The painter's own screen is an alternate one: the wheel means arrow keys only where the program's is one too.
		m.AltScroll = m.AltScroll && m.Alternate
		m.Alternate = m.Alternate && p.inline > 0
	}
	return m
}

// syncScreen switches the engine to the screen that the frame shows, which then is blank.
func (p *Painter) syncScreen(dst []byte, f *Frame) []byte {
	on := p.frameModes(f.Modes).Alternate
	if on == p.state.modes.Alternate {
		return dst
	}
	if p.inline > 0 {
		return p.syncInline(dst, on)
	}
	p.state.modes.Alternate = on
	dst = appendMode(dst, 1047, on)
	dst = p.setStyle(dst, nil, vt.Cell{})
	dst = append(dst, "\x1b[2J\x1b[=0;1u"...) // keyboard flags are each screen's own
	p.state.modes.KittyFlags = 0
	p.joins, p.pending = false, false
	for y := range p.shadow {
		p.shadow[y].blank()
	}
	return dst
}

// syncState hands over modes, title, cursor shape and colours.
func (p *Painter) syncState(dst []byte, f *Frame) []byte {
	if m := p.frameModes(f.Modes); m != p.state.modes {
		dst = p.syncModes(dst, m)
	}
	if p.caps.Basic {
		return dst
	}
	if f.Title != p.state.title || p.state.titleUnknown {
		p.state.title, p.state.titleUnknown = f.Title, false
		p.ever.title = true
		dst = append(dst, "\x1b]2;"...)
		dst = append(dst, f.Title...)
		dst = append(dst, "\x1b\\"...)
	}
	if c := f.Cursor; c.Style != p.state.style || c.Blink != p.state.blink {
		dst = p.syncCursorStyle(dst, c)
	}
	return p.syncPalette(dst, f.Palette)
}

// syncModes hands over what differs between the modes told before and m.
func (p *Painter) syncModes(dst []byte, m vt.Modes) []byte {
	old := p.state.modes
	p.state.modes = m
	p.ever.note(m)
	flag := func(n int, was, is bool) {
		if was != is {
			dst = appendMode(dst, n, is)
		}
	}
	flag(1, old.AppCursor, m.AppCursor)
	flag(5, old.ReverseVideo, m.ReverseVideo)
	flag(67, old.Backarrow, m.Backarrow)
	flag(1004, old.FocusEvents, m.FocusEvents)
	flag(1007, old.AltScroll, m.AltScroll)
	flag(2004, old.BracketedPaste, m.BracketedPaste)
	if old.AppKeypad != m.AppKeypad {
		dst = appendKeypad(dst, m.AppKeypad)
	}
	if old.NewLine != m.NewLine {
		dst = appendNewLine(dst, m.NewLine)
	}
	if old.Mouse != m.Mouse {
		dst = appendMouse(dst, old.Mouse, false)
		dst = appendMouse(dst, m.Mouse, true)
	}
	if old.MouseEncoding != m.MouseEncoding {
		dst = appendEncoding(dst, old.MouseEncoding, false)
		dst = appendEncoding(dst, m.MouseEncoding, true)
	}
	if old.ModifyOtherKeys != m.ModifyOtherKeys {
		dst = append(dst, "\x1b[>4;"...)
		dst = append(appendInt(dst, int(m.ModifyOtherKeys)), 'm')
	}
	if old.FormatOtherKeys != m.FormatOtherKeys {
		dst = append(dst, "\x1b[>4;"...)
		if m.FormatOtherKeys {
			dst = append(dst, "1f"...)
		} else {
			dst = append(dst, "0f"...)
		}
	}
	if old.KittyFlags != m.KittyFlags {
		dst = p.syncKitty(dst, m.KittyFlags)
	}
	return dst
}

// syncKitty sets the kitty keyboard flags. A person's terminal gets an entry of our own on its stack, so that Leave
// can give back what was there.
func (p *Painter) syncKitty(dst []byte, flags uint8) []byte {
	if p.target == UserTerminal && !p.ever.kittyPushed {
		p.ever.kittyPushed = true
		return append(appendInt(append(dst, "\x1b[>"...), int(flags)), 'u')
	}
	return append(appendInt(append(dst, "\x1b[="...), int(flags)), ";1u"...)
}

func appendKeypad(dst []byte, on bool) []byte {
	if on {
		return append(dst, "\x1b="...)
	}
	return append(dst, "\x1b>"...)
}

func appendNewLine(dst []byte, on bool) []byte {
	if on {
		return append(dst, "\x1b[20h"...)
	}
	return append(dst, "\x1b[20l"...)
}

func appendMouse(dst []byte, m vt.MouseTracking, on bool) []byte {
	switch m {
	case vt.MouseX10:
		return appendMode(dst, 9, on)
	case vt.MouseNormal:
		return appendMode(dst, 1000, on)
	case vt.MouseButton:
		return appendMode(dst, 1002, on)
	case vt.MouseAny:
		return appendMode(dst, 1003, on)
	}
	return dst
}

func appendEncoding(dst []byte, e vt.MouseEncoding, on bool) []byte {
	switch e {
	case vt.MouseUTF8:
		return appendMode(dst, 1005, on)
	case vt.MouseSGR:
		return appendMode(dst, 1006, on)
	case vt.MouseURXVT:
		return appendMode(dst, 1015, on)
	case vt.MouseSGRPixels:
		return appendMode(dst, 1016, on)
	}
	return dst
}

func (p *Painter) syncCursorStyle(dst []byte, c vt.Cursor) []byte {
	p.state.style, p.state.blink = c.Style, c.Blink
	n := 0
	switch c.Style {
	case vt.CursorDefault:
	case vt.CursorBlock:
		n = 2
	case vt.CursorUnderline:
		n = 4
	case vt.CursorBar:
		n = 6
	}
	if n > 0 && c.Blink {
		n--
	}
	p.ever.cursorStyle = true
	dst = append(dst, "\x1b["...)
	dst = append(appendInt(dst, n), " q"...)
	if n == 0 && c.Blink {
		dst = appendMode(dst, 12, true)
	}
	return dst
}

// syncPalette hands over the colours that differ from those told before; nil is none.
func (p *Painter) syncPalette(dst []byte, c *vt.Palette) []byte {
	s := &p.state
	if c == s.paletteOf && (c == nil || c.Changed == s.paletteChanges) {
		return dst
	}
	s.paletteOf = c
	if c == nil {
		c = &vt.Palette{}
	}
	s.paletteChanges = c.Changed
	for i := range c.Indexed {
		if c.Indexed[i] != s.palette.Indexed[i] {
			dst = appendIndexed(dst, i, c.Indexed[i])
			p.ever.palette = true
		}
	}
	dst = p.syncDynamic(dst, 10, s.palette.Foreground, c.Foreground)
	dst = p.syncDynamic(dst, 11, s.palette.Background, c.Background)
	dst = p.syncDynamic(dst, 12, s.palette.Cursor, c.Cursor)
	s.palette = *c
	return dst
}

func (p *Painter) syncDynamic(dst []byte, n int, old, c vt.Color) []byte {
	if c == old {
		return dst
	}
	p.ever.dynamic = true
	dst = append(dst, "\x1b]"...)
	if c == 0 {
		dst = appendInt(dst, 100+n)
	} else {
		dst = append(appendInt(dst, n), ';')
		dst = appendSpec(dst, c)
	}
	return append(dst, "\x1b\\"...)
}

func appendIndexed(dst []byte, i int, c vt.Color) []byte {
	if c == 0 {
		dst = appendInt(append(dst, "\x1b]104;"...), i)
	} else {
		dst = append(appendInt(append(dst, "\x1b]4;"...), i), ';')
		dst = appendSpec(dst, c)
	}
	return append(dst, "\x1b\\"...)
}

// appendSpec appends a colour as X has it.
func appendSpec(dst []byte, c vt.Color) []byte {
	const hex = "0123456789abcdef"
	r, g, b, _ := c.RGB()
	return append(dst, 'r', 'g', 'b', ':', hex[r>>4], hex[r&15], '/', hex[g>>4], hex[g&15], '/', hex[b>>4], hex[b&15])
}

package render

import "github.com/vev-term/vev/internal/domain/vt"

// touched is what paints ever changed of a person's terminal, beyond what Enter and every Leave undo anyway.
type touched struct {
	kittyPushed     bool
	modifyOtherKeys bool
	backarrow       bool
	formatOtherKeys bool
	palette         bool
	dynamic         bool
	cursorStyle     bool
	title           bool
}

func (e *touched) note(m vt.Modes) {
	e.modifyOtherKeys = e.modifyOtherKeys || m.ModifyOtherKeys != 0
	e.backarrow = e.backarrow || m.Backarrow
	e.formatOtherKeys = e.formatOtherKeys || m.FormatOtherKeys
}

// Enter appends what prepares a person's terminal for painting: its title, wheel mode and width mode are saved, the
// alternate screen is shown unless the painter is Inline, the cursor hidden until the first Paint. For UserTerminal alone.
func (p *Painter) Enter(dst []byte) []byte {
	p.known = false
	if p.inline > 0 {
		return p.enterInline(dst)
	}
	if p.caps.Basic {
		return append(dst, "\x1b[?1049h\x1b[?25l\x1b[m\x1b[2J"...)
	}
	return append(dst, "\x1b[?1007;2027s\x1b[22;0t\x1b[?1049h\x1b[?25l\x1b[m\x1b[2J"...)
}

// endLink ends a hyperlink, in whatever state the terminal is.
func (p *Painter) endLink(dst []byte) []byte {
	if p.caps.Basic {
		return dst
	}
	return append(dst, "\x1b]8;;\x1b\\"...)
}

// modesOff turns off every mode that a paint can turn on. It is right in any state of the terminal.
const modesOff = "\x1b[?1l\x1b>\x1b[20l\x1b[?5l\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l" +
	"\x1b[?1016l\x1b[?1004l\x1b[?2004l"

// resetUser brings a person's terminal into the state that painting starts from: blank, no modes, no margins, no
// insertion, no autowrap.
func (p *Painter) resetUser(dst []byte, rows int) []byte {
	dst = append(dst, "\x1b[?25l\x1b[r\x1b[?6l\x1b[4l\x1b[?7l\x1b(B\x0f\x1b[m"...)
	dst = p.endLink(dst)
	dst = append(dst, modesOff...)
	if !p.caps.Basic { // there they could not be given back
		dst = append(dst, "\x1b[?1007l\x1b[?2027h"...)
	}
	titled := p.ever.title
	dst = p.undo(dst)
	if p.inline > 0 {
		if p.state.modes.Alternate {
			dst = append(dst, "\x1b[?1049l"...)
		}
		dst = p.clearRows(dst, rows)
	} else {
		dst = append(dst, "\x1b[H\x1b[2J"...)
	}
	p.state = state{titleUnknown: titled}
	return dst
}

// undo resets what only some paints change, and forgets that they did.
func (p *Painter) undo(dst []byte) []byte {
	if p.ever.kittyPushed {
		dst = append(dst, "\x1b[<u"...)
	}
	if p.ever.modifyOtherKeys {
		dst = append(dst, "\x1b[>4m"...)
	}
	if p.ever.backarrow {
		dst = append(dst, "\x1b[?67l"...)
	}
	if p.ever.formatOtherKeys {
		dst = append(dst, "\x1b[>4f"...)
	}
	if p.ever.cursorStyle {
		dst = append(dst, "\x1b[0 q"...)
	}
	if p.ever.palette {
		dst = append(dst, "\x1b]104\x1b\\"...)
	}
	if p.ever.dynamic {
		dst = append(dst, "\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\"...)
	}
	p.ever = touched{}
	return dst
}

// Leave appends what undoes Enter and every mode that a Paint may have set, and resets the painter. For UserTerminal
// alone; it is right at any moment, also after a Paint whose bytes were not all written. It begins with CAN, which
// ends a sequence that was cut.
func (p *Painter) Leave(dst []byte) []byte {
	dst = append(dst, "\x18\x1b\\"...)
	dst = append(dst, "\x1b[r\x1b[?6l\x1b[4l\x1b[?7h\x1b(B\x0f\x1b[m"...)
	dst = p.endLink(dst)
	dst = append(dst, modesOff...)
	dst = p.undo(dst)
	if p.inline > 0 {
		dst = p.leaveInline(dst)
		p.known = false
		return dst
	}
	p.known = false
	if p.caps.Basic {
		return append(dst, "\x1b[2J\x1b[H\x1b[?1049l\x1b[?25h"...)
	}
	return append(dst, "\x1b[2J\x1b[?1049l\x1b[?1007;2027r\x1b[23;0t\x1b[?25h"...)
}

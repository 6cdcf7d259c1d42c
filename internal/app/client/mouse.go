package client

import (
	"github.com/vev-term/vev/internal/domain/keys"
	"github.com/vev-term/vev/internal/domain/vt"
)

// shown is what decides about input of what the terminal shows: the program's modes and where the window lies.
type shown struct {
	modes      vt.Modes
	cols, rows int // of the session
	x, y       int // of the window's first cell in the session

	brackets bool // the program has bracketed paste on, also while scroll mode's modes are there
}

// terminalModes are the modes that the user's terminal gets for a program's: it reports the mouse in the encoding that
// carries every place and every button, whatever the program asked for, and in no older tracking than presses and
// releases. It always brackets pastes.
func terminalModes(m vt.Modes) vt.Modes {
	m.BracketedPaste = true
	if m.Mouse == vt.MouseX10 {
		m.Mouse = vt.MouseNormal
	}
	m.MouseEncoding = vt.MouseDefault
	if m.Mouse != vt.MouseNone {
		m.MouseEncoding = vt.MouseSGR
	}
	return m
}

// mouse is the pump's memory of the mouse.
type mouse struct {
	held bool // a button was pressed within the session and not released yet
	buf  []byte
}

// place moves an event from the terminal to the session, and reports whether it is one of the session's: what happens
// beside it is not, but for the rest of a drag that began in it, which is told from the nearest edge.
func (m *mouse) place(e *keys.Event, s *shown) bool {
	e.Mouse.X += s.x
	e.Mouse.Y += s.y
	inside := e.Mouse.X < s.cols && e.Mouse.Y < s.rows
	mine := inside || m.held && e.Mouse.Action != keys.MousePress
	e.Mouse.X, e.Mouse.Y = min(e.Mouse.X, s.cols-1), min(e.Mouse.Y, s.rows-1)
	switch {
	case e.Mouse.Action == keys.MouseRelease:
		m.held = false
	case e.Mouse.Action == keys.MousePress && inside && !e.Mouse.Button.Wheel():
		m.held = true
	}
	return mine
}

// append appends what the program is to get for an event of the terminal's mouse. A cell counts as one pixel: a session
// has no size in pixels that a program could divide by.
func (m *mouse) append(dst []byte, e keys.Event, s *shown) []byte {
	if s.cols == 0 || !m.place(&e, s) {
		return dst
	}
	return keys.AppendMouse(dst, e, s.modes)
}

// moused sends what the mouse did, encoded for the program. after is how many bytes were read behind the report: they
// have their room in the log already, but an encoding may be longer than its report. Without room for it the event is
// left out; the program has not taken its input for long then.
func (c *client) moused(s *shown, after int) {
	if c.readOnly {
		return
	}
	c.mouse.buf = c.mouse.append(c.mouse.buf[:0], c.typing.event, s)
	out := c.mouse.buf[min(c.typing.passed, len(c.mouse.buf)):] // every form begins with the bytes that passed
	if len(out) > 0 && len(out)+after <= c.out.free() {
		c.send(out)
	}
}

package keys

import (
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/vt"
)

// The largest coordinates, counted from 0, that the encodings of bytes and of UTF-8 can carry: 223 and 2015 counted from 1.
// An event beyond is not sent, as there is no way to say where it was.
const (
	MaxMouseBytes = 222
	MaxMouseUTF8  = 2014
)

// The bits of a button code beside the button.
const (
	mouseShift  = 4
	mouseAlt    = 8
	mouseCtrl   = 16
	mouseMotion = 32
)

// AppendMouse appends what a terminal in the given modes sends for a MouseEvent; nothing when the tracking mode does not
// report it, or its encoding cannot carry its place. For [vt.MouseSGRPixels] the place is in pixels.
func AppendMouse(dst []byte, e Event, m vt.Modes) []byte {
	if !reports(m.Mouse, e.Mouse) || e.Mouse.X < 0 || e.Mouse.Y < 0 {
		return dst
	}
	release := e.Mouse.Action == MouseRelease
	sgr := m.MouseEncoding == vt.MouseSGR || m.MouseEncoding == vt.MouseSGRPixels
	code := int(e.Mouse.Button)
	if release && !sgr {
		code = int(ButtonNone)
	}
	if m.Mouse != vt.MouseX10 {
		code |= mouseMods(e.Mods)
	}
	if e.Mouse.Action == MouseMotion {
		code |= mouseMotion
	}
	x, y := e.Mouse.X+1, e.Mouse.Y+1
	switch m.MouseEncoding {
	case vt.MouseSGR, vt.MouseSGRPixels:
		dst = appendTriple(append(dst, "\x1b[<"...), code, x, y)
		if release {
			return append(dst, 'm')
		}
		return append(dst, 'M')
	case vt.MouseURXVT:
		return append(appendTriple(append(dst, "\x1b["...), code+32, x, y), 'M')
	case vt.MouseUTF8:
		if e.Mouse.X > MaxMouseUTF8 || e.Mouse.Y > MaxMouseUTF8 {
			return dst
		}
		dst = utf8.AppendRune(append(dst, "\x1b[M"...), rune(code+32))
		return utf8.AppendRune(utf8.AppendRune(dst, rune(x+32)), rune(y+32))
	case vt.MouseDefault:
		if e.Mouse.X > MaxMouseBytes || e.Mouse.Y > MaxMouseBytes {
			return dst
		}
		return append(dst, 0x1b, '[', 'M', byte(code+32), byte(x+32), byte(y+32))
	}
	return dst
}

// reports tells which events a tracking mode has: X10 presses of the three buttons, normal tracking presses and
// releases, the others motion too.
func reports(mode vt.MouseTracking, m Mouse) bool {
	if m.Button.Wheel() && m.Action != MousePress {
		return false
	}
	switch mode {
	case vt.MouseX10:
		return m.Action == MousePress && m.Button <= ButtonRight
	case vt.MouseNormal:
		return m.Action != MouseMotion
	case vt.MouseButton:
		return m.Action != MouseMotion || m.Button != ButtonNone
	case vt.MouseAny:
		return true
	case vt.MouseNone:
	}
	return false
}

func mouseMods(mods Mods) int {
	code := 0
	if mods&Shift != 0 {
		code |= mouseShift
	}
	if mods&(Alt|Meta) != 0 {
		code |= mouseAlt
	}
	if mods&Ctrl != 0 {
		code |= mouseCtrl
	}
	return code
}

func appendTriple(dst []byte, code, x, y int) []byte {
	dst = appendInt(dst, code)
	dst = appendInt(append(dst, ';'), x)
	return appendInt(append(dst, ';'), y)
}

// AppendFocus appends the report that the terminal got or lost the focus, if the program asked for it.
func AppendFocus(dst []byte, in bool, m vt.Modes) []byte {
	switch {
	case !m.FocusEvents:
		return dst
	case in:
		return append(dst, "\x1b[I"...)
	}
	return append(dst, "\x1b[O"...)
}

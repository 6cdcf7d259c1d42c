package client

import "strings"

const esc = 0x1b

// maxSequence is the longest escape sequence that is looked at as one; a longer one passes as bytes.
const maxSequence = 64

// sequence measures the escape sequence at the begin of p, which begins with Escape: its length, or 0 when p, shorter
// than maxSequence, ends before it does. A sequence that is broken off by a control ends before that.
func sequence(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch c := p[1]; {
	case c == '[':
		return controlSequence(p[:min(len(p), maxSequence)])
	case c == 'O':
		if len(p) == 2 {
			return 0
		}
		if p[2] < 0x20 || p[2] > 0x7e {
			return 2
		}
		return 3
	case c < 0x20 || c > 0x7e:
		return 1
	}
	return 2
}

func controlSequence(p []byte) int {
	for i := 2; i < len(p); i++ {
		switch c := p[i]; {
		case c == '[' && i == 2: // function keys of the Linux console: one more byte
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x7e:
			return i
		}
	}
	if len(p) == maxSequence {
		return maxSequence
	}
	return 0
}

// control is a parsed control sequence; the zero control is none.
type control struct {
	private byte // '<', '=', '>' or '?' before the parameters, or 0
	final   byte
	// param are the first parameters, each with its first subparameters; -1 where absent.
	param [3][3]int
	count int // of parameters that were there

	// Of a key: the code point of the key, and who else it may be.
	code, shifted, base int
	mods                int // bits: 1 shift, 2 alt, 4 ctrl, 8 super, ...; without the locks
	event               int
}

// Kinds of key events.
const (
	pressed  = 1
	repeated = 2
	released = 3
)

const (
	modShift = 1
	modCtrl  = 4
	modLocks = 64 | 128
)

// parse reads a whole sequence as sequence measures it.
func parse(s []byte) (c control) {
	if len(s) < 3 || s[1] != '[' || s[len(s)-1] < 0x40 {
		return c
	}
	c.final = s[len(s)-1]
	body := s[2 : len(s)-1]
	if len(body) > 0 && strings.IndexByte("<=>?", body[0]) >= 0 {
		c.private, body = body[0], body[1:]
	}
	c.numbers(body)
	c.event = max(c.param[1][1], pressed)
	c.mods = max(c.param[1][0]-1, 0) &^ modLocks
	switch {
	case c.final == 'u':
		c.code, c.shifted, c.base = c.param[0][0], c.param[0][1], c.param[0][2]
	case c.final == '~' && c.param[0][0] == 27 && c.count == 3: // modifyOtherKeys
		c.code = c.param[2][0]
	}
	return c
}

// numbers reads the parameters; those beyond the third and subparameters beyond the third are left out.
func (c *control) numbers(body []byte) {
	for i := range c.param {
		c.param[i] = [3]int{-1, -1, -1}
	}
	if len(body) == 0 {
		return
	}
	sub := 0
	c.count = 1
	for _, b := range body {
		switch {
		case b == ';':
			c.count++
			sub = 0
		case b == ':':
			sub++
		case b >= '0' && b <= '9' && c.count <= len(c.param) && sub < len(c.param[0]):
			v := &c.param[c.count-1][sub]
			*v = min(max(*v, 0)*10+int(b-'0'), 1<<24)
		}
	}
}

func (c *control) isPasteBegin() bool { return c.final == '~' && c.count == 1 && c.param[0][0] == 200 }

func (c *control) isPasteEnd() bool { return c.final == '~' && c.count == 1 && c.param[0][0] == 201 }

// isMouseX10 reports whether three raw bytes follow.
func (c *control) isMouseX10() bool { return c.final == 'M' && c.private == 0 && c.count == 0 }

// isKey reports whether a key press is in it that tells its code point.
func (c *control) isKey() bool { return c.private == 0 && c.code > 0 }

// isReport reports whether the terminal told something that no key did: the mouse, the focus, a size, an answer.
func (c *control) isReport() bool {
	switch c.final {
	case 'M':
		return c.private != 0 || c.count >= 3
	case 'I', 'O':
		return c.count == 0
	case 't':
		return true
	}
	return c.private != 0
}

// isModifier reports whether the key is a modifier or lock alone.
func (c *control) isModifier() bool {
	return c.isKey() && (c.code >= 57358 && c.code <= 57360 || c.code >= 57441 && c.code <= 57454)
}

// is reports whether the key is the one that sends control byte b.
func (c *control) is(b byte) bool {
	code := int(b | 0x40)
	if code >= 'A' && code <= 'Z' {
		code += 'a' - 'A'
	}
	return c.isKey() && c.mods == modCtrl && (c.code == code || c.base == code)
}

// rune is what the key types, 0 when it types nothing.
func (c *control) rune() rune {
	switch {
	case !c.isKey() || c.mods&^modShift != 0:
		return 0
	case c.final == 'u' && c.param[2][0] > 0:
		return rune(c.param[2][0])
	case c.mods == modShift && c.shifted > 0:
		return rune(c.shifted)
	case c.mods == modShift && c.code == '/': // a terminal that tells no shifted key: the common layout
		return '?'
	}
	return rune(c.code)
}

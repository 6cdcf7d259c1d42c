package keys

import "unicode/utf8"

// Bounds of the parameters of a control sequence: further ones are left out, larger values are the largest.
const (
	maxParams = 4
	maxSubs   = 3
	maxValue  = 1 << 24
)

// sequence is a parsed control sequence.
type sequence struct {
	private byte // '<', '=', '>' or '?' before the parameters, or 0
	inter   byte // the last intermediate byte, or 0
	final   byte
	// params are the parameters, each with its subparameters; -1 where absent.
	params [maxParams][maxSubs]int
	count  int    // of parameters that were there
	third  []byte // the third one, as it came
}

// controlSequence decodes ESC [ and what follows, of which at most limit bytes are looked at.
func (d *Decoder) controlSequence(p []byte, more bool, limit int) (e Event, n int) {
	for i := 2; i < min(len(p), limit); i++ {
		switch c := p[i]; {
		case c == '[' && i == 2:
			return consoleKey(p, more)
		case c == 'M' && i == 2:
			return mouseBytes(p, more)
		case c >= 0x40 && c <= 0x7e:
			return d.act(parse(p[2:i], c)), i + 1
		case c < 0x20 || c > 0x7e:
			return broken(i)
		}
	}
	switch {
	case len(p) >= limit:
		return Event{Kind: Unknown}, limit
	case more:
		return Event{}, 0
	}
	return broken(len(p))
}

// broken is a control sequence of n bytes that ended before its end: Alt-[ when there is nothing of it.
func broken(n int) (Event, int) {
	if n == 2 {
		return Event{Kind: KeyEvent, Key: '[', Mods: Alt}, n
	}
	return Event{Kind: Unknown}, n
}

// consoleKey decodes ESC [ [ and a letter: F1 to F5 of the Linux console.
func consoleKey(p []byte, more bool) (e Event, n int) {
	switch {
	case len(p) == 3 && more:
		return Event{}, 0
	case len(p) > 3 && p[3] >= 'A' && p[3] <= 'E':
		return Event{Kind: KeyEvent, Key: F1 + Key(p[3]-'A')}, 4
	}
	return Event{Kind: Unknown}, 3
}

// parse reads what is between ESC [ and the final byte.
func parse(body []byte, final byte) (s sequence) {
	s.final = final
	for i := range s.params {
		s.params[i] = [maxSubs]int{-1, -1, -1}
	}
	if len(body) > 0 && body[0] >= '<' && body[0] <= '?' {
		s.private, body = body[0], body[1:]
	}
	sub, at := 0, 0
	for i, b := range body {
		if s.count == 0 && b >= 0x30 {
			s.count = 1
		}
		switch {
		case b == ';':
			s.count++
			sub, at = 0, i+1
		case b == ':':
			sub++
		case b >= '0' && b <= '9':
			if s.count <= maxParams && sub < maxSubs {
				v := &s.params[s.count-1][sub]
				*v = min(max(*v, 0)*10+int(b-'0'), maxValue)
			}
		case b < 0x30:
			s.inter = b
		}
		if s.count == 3 {
			s.third = body[at : i+1]
		}
	}
	return s
}

// act returns the event of a whole control sequence.
func (d *Decoder) act(s sequence) Event {
	switch {
	case s.private == '<' && (s.final == 'M' || s.final == 'm'):
		return mouseSGR(s)
	case s.private != 0 || s.inter != 0:
		return Event{Kind: Reply}
	}
	switch s.final {
	case 'M':
		return mouseURXVT(s)
	case 'I', 'O':
		return focus(s)
	case 'Z':
		return s.key(Tab, Shift)
	case 'a', 'b', 'c', 'd':
		if s.count > 0 {
			return Event{Kind: Reply} // CSI ... c: device attributes
		}
		return s.key(byLetter(s.final-'a'+'A'), Shift)
	case 'n', 't', 'x':
		return Event{Kind: Reply}
	case 'u':
		return s.unicode()
	case '~':
		return d.tilde(s)
	case 'R':
		if s.count == 2 && s.params[0][0] != 1 {
			return Event{Kind: Reply}
		}
	}
	if k := byLetter(s.final); k != 0 && (s.params[0][0] == 1 || s.params[0][0] < 0) {
		return s.key(k, 0)
	}
	return Event{Kind: Unknown}
}

func focus(s sequence) Event {
	switch {
	case s.count > 0:
		return Event{Kind: Unknown}
	case s.final == 'I':
		return Event{Kind: FocusIn}
	}
	return Event{Kind: FocusOut}
}

// tilde decodes CSI number ~.
func (d *Decoder) tilde(s sequence) Event {
	number := s.params[0][0]
	switch {
	case s.count == 1 && number == 200:
		d.paste = true
		return Event{Kind: PasteBegin}
	case s.count == 1 && number == 201:
		return Event{Kind: PasteEnd}
	case s.count == 3 && number == 27: // modifyOtherKeys
		return s.character(s.params[2][0], "")
	}
	if k := byNumber(number); k != 0 {
		return s.key(k, 0)
	}
	return Event{Kind: Unknown}
}

// key returns the event of a key without character; the second parameter has modifiers and action.
func (s sequence) key(k Key, mods Mods) Event {
	m, action := s.params[1][0], s.params[1][1]
	if m < 0 {
		m = 1
	}
	if action < 0 {
		action = 1
	}
	if m < 1 || m > 256 || action < 1 || action > 3 {
		return Event{Kind: Unknown}
	}
	return Event{Kind: KeyEvent, Key: k, Mods: Mods(m-1) | mods, Action: Action(action - 1)}
}

// unicode decodes CSI u of the kitty keyboard protocol, which modifyOtherKeys can have too.
func (s sequence) unicode() Event {
	text, ok := s.text()
	if !ok {
		return Event{Kind: Unknown}
	}
	return s.character(s.params[0][0], text)
}

// character returns the event of a key with the given code point.
func (s sequence) character(code int, text string) Event {
	k := Key(code)
	switch {
	case code >= int(Insert-named) && code <= int(lastKittyKey-named):
		k += named
	case code == 0 && text != "":
	case k == Tab, k == Enter, k == Escape, k == Backspace:
	case !k.isChar():
		return Event{Kind: Unknown}
	}
	e := s.key(k, 0)
	if e.Kind != KeyEvent {
		return e
	}
	if s.final == 'u' {
		e.Shifted, e.Base = alternate(s.params[0][1]), alternate(s.params[0][2])
	}
	if c := Char(rune(k)); k.isChar() && c.Key != k && e.Mods&Shift != 0 && e.Shifted == 0 {
		e.Key, e.Shifted = c.Key, k // modifyOtherKeys has the letter as Shift makes it
	}
	e.shiftedLetter()
	if text != "" && (!e.typesText() || text != string(e.char())) {
		e.Text = text
	}
	return e
}

func alternate(code int) Key {
	if k := Key(code); k.isChar() {
		return k
	}
	return 0
}

// text reads the third parameter: code points of text. It reports false when one is none, or a control.
func (s sequence) text() (string, bool) {
	if len(s.third) == 0 || s.count != 3 {
		return "", true
	}
	var text []byte
	n, digits := 0, false
	for i := 0; i <= len(s.third); i++ {
		if i < len(s.third) && s.third[i] >= '0' && s.third[i] <= '9' {
			n, digits = min(n*10+int(s.third[i]-'0'), maxValue), true
			continue
		}
		if digits {
			if n > utf8.MaxRune || !utf8.ValidRune(rune(n)) || n < 0x20 || n >= 0x7f && n < 0xa0 {
				return "", false
			}
			text = utf8.AppendRune(text, rune(n))
		}
		n, digits = 0, false
	}
	return string(text), true
}

// mouseBytes decodes ESC [ M and three bytes.
func mouseBytes(p []byte, more bool) (e Event, n int) {
	const size = 6
	switch {
	case len(p) >= size:
		return mouse(int(p[3])-32, int(p[4])-32, int(p[5])-32, false), size
	case more:
		return Event{}, 0
	}
	return Event{Kind: Unknown}, len(p)
}

func mouseSGR(s sequence) Event {
	if s.count != 3 {
		return Event{Kind: Unknown}
	}
	return mouse(s.params[0][0], s.params[1][0], s.params[2][0], s.final == 'm')
}

func mouseURXVT(s sequence) Event {
	if s.count != 3 {
		return Event{Kind: Unknown}
	}
	return mouse(s.params[0][0]-32, s.params[1][0], s.params[2][0], false)
}

// mouse returns the event of a button code and a place that counts from 1; a Reply when there is no such place. In the
// older encodings a release is button 3 without motion.
func mouse(code, x, y int, release bool) Event {
	const bits = mouseShift | mouseAlt | mouseCtrl | mouseMotion
	if code < 0 || code > 255 || x < 1 || y < 1 {
		return Event{Kind: Reply}
	}
	e := Event{Kind: MouseEvent, Mouse: Mouse{Button: Button(code &^ bits), X: x - 1, Y: y - 1}}
	if code&mouseShift != 0 {
		e.Mods |= Shift
	}
	if code&mouseAlt != 0 {
		e.Mods |= Alt
	}
	if code&mouseCtrl != 0 {
		e.Mods |= Ctrl
	}
	switch b := e.Mouse.Button; {
	case code&mouseMotion != 0:
		e.Mouse.Action = MouseMotion
	case release || b == ButtonNone:
		e.Mouse.Action = MouseRelease
	}
	return e
}

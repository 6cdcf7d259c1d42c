package vt

// control carries out a C0 control.
func (t *Terminal) control(b byte) {
	t.lastRune = 0
	switch b {
	case '\r':
		t.carriageReturn()
	case '\n', '\v', '\f':
		t.lineFeed()
	case '\b':
		t.backspace()
	case '\t':
		if t.moreFix && t.pending {
			t.wrapPending()
		}
		t.tab(1)
	case 0x07:
		t.emit(Event{Kind: EventBell, Count: 1})
	case 0x0e:
		t.shift(1)
	case 0x0f:
		t.shift(0)
	}
}

// control8 carries out U+0080 to U+009F: C1 as UTF-8 has it. A raw byte of that value never gets here.
func (t *Terminal) control8(r rune) {
	if r >= 0x80 && r <= 0x9f {
		t.par.startSequence(stEscape)
		t.escape(byte(r - 0x40))
	}
}

// escape acts on the byte behind ESC.
func (t *Terminal) escape(b byte) int {
	ps := &t.par
	if b != '[' {
		t.lastRune = 0
	}
	switch {
	case b >= 0x20 && b < 0x30:
		ps.startSequence(stEscapeMid)
		ps.addIntermediate(b)
		return 1
	case b >= 0x80:
		t.abandon()
		return 0
	case b < 0x20 || b == 0x7f:
		t.always(b)
		return 1
	}
	ps.state = stGround
	switch b {
	case '[':
		ps.startSequence(stCSI)
	case ']':
		ps.startString(stOSC)
	case 'P':
		ps.startSequence(stDCS)
	case 'X', '^', '_':
		ps.startSwallow()
	default:
		t.escapeFinal(b)
	}
	return 1
}

func (t *Terminal) escapeFinal(b byte) {
	switch b {
	case '7':
		t.saveCursor()
	case '8':
		t.restoreCursor()
	case 'D':
		t.moved()
		t.index()
	case 'E':
		t.moved()
		t.index()
		t.carriageReturn()
	case 'H':
		t.tabs.set(t.cx)
	case 'M':
		t.reverseIndex()
	case 'N':
		t.singleShift = 2
		t.updateSlow()
	case 'O':
		t.singleShift = 3
		t.updateSlow()
	case 'V':
		t.protect(true)
		t.isoProtected = true
	case 'W':
		t.protect(false)
	case 'Z':
		t.reply(replyDA1)
	case 'c':
		t.reset()
	case 'n':
		t.shift(2)
	case 'o':
		t.shift(3)
	case '=':
		t.modes.AppKeypad = true
	case '>':
		t.modes.AppKeypad = false
	case '6':
		t.backIndex()
	case '9':
		t.forwardIndex()
	}
}

// escapeMid acts on a byte behind ESC and intermediates.
func (t *Terminal) escapeMid(b byte) int {
	ps := &t.par
	switch {
	case b >= 0x20 && b < 0x30:
		ps.addIntermediate(b)
	case b >= 0x80:
		t.abandon()
		return 0
	case b < 0x20 || b == 0x7f:
		t.always(b)
	default:
		ps.state = stGround
		switch {
		case ps.ninter == 1:
			t.escapeWith(byte(ps.inter), b)
		case ps.ninter == 2 && byte(ps.inter) == '%' && b == '6':
			if slot := int(ps.inter>>8) - '('; slot >= 0 && slot < len(t.charsets) {
				t.designate(slot, charsetPortuguese)
			}
		}
	}
	return 1
}

// escapeWith acts on an escape sequence with one intermediate byte.
func (t *Terminal) escapeWith(inter, final byte) {
	switch inter {
	case '(', ')', '*', '+':
		t.designate(int(inter-'('), set94(final))
	case '-', '.', '/':
		t.designate(int(inter-'-')+1, set96(final))
	case '#': // of DECDHL, DECSWL and DECDWL nothing shows: all lines are single
		if final == '8' {
			t.alignmentTest()
		}
	}
}

func (t *Terminal) carriageReturn() {
	t.moved()
	if t.cx >= t.left || t.origin {
		t.cx = t.left
	} else {
		t.cx = 0
	}
}

func (t *Terminal) lineFeed() {
	t.moved()
	t.index()
	if t.modes.NewLine {
		t.carriageReturn()
	}
}

// backspace moves left by one; with reverse wrap (mode 45) from the start of a line that a wrap began to the end of
// the one before.
func (t *Terminal) backspace() {
	t.cursorLeft(1)
}

func (t *Terminal) reverseIndex() {
	t.moved()
	switch {
	case t.cy == t.top:
		if t.cx >= t.left && t.cx <= t.right {
			t.scrollDown(t.top, t.bot, 1)
		}
	case t.cy > 0:
		t.cy--
	}
}

// backIndex is DECBI: left, or a column comes in at the left margin. In that column above and below the margins nothing
// happens, whatever the mode.
func (t *Terminal) backIndex() {
	t.joinable = false
	if t.cx != t.left {
		t.cursorLeft(1)
		return
	}
	if t.inRows() {
		t.insertColumns(t.left, 1)
	}
}

// forwardIndex is DECFI: right, or a column comes in at the right margin; nothing there above and below the other margins.
// A pending wrap stays at the margin.
func (t *Terminal) forwardIndex() {
	t.joinable = false
	switch {
	case t.cx == t.right && t.inRows():
		t.deleteColumns(t.left, 1)
	case t.cx != t.right:
		t.cursorRight(1)
	}
}

// alignmentTest is DECALN: a screen of E in default style; margins, origin mode and, as in xterm, the pen's rendition
// reset, its colours not; cursor home.
func (t *Terminal) alignmentTest() {
	t.resetMargins()
	t.origin = false
	pen := t.pen
	pen.setAttr(pen.attr() & protected)
	t.setPen(pen)
	t.moved()
	t.cx, t.cy = 0, 0
	for y := range t.rows {
		r := t.touch(y)
		r.blankAll(Cell{})
		fillCells(r.cells, Cell{lo: 'E'})
		r.used = t.cols
	}
}

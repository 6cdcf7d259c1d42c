package vt

// csi acts on a whole control sequence that has a prefix or intermediate bytes.
func (t *Terminal) csi(final byte) {
	ps := &t.par
	switch {
	case ps.prefix == '?' && ps.inter == 0:
		t.csiPrivate(final)
	case ps.inter == 0:
		t.csiPrefixed(ps.prefix, final)
	default:
		t.csiIntermediate(final)
	}
}

// csiPlain acts on sequences without prefix and intermediates: ECMA-48 and DEC.
func (t *Terminal) csiPlain(final byte) {
	ps := &t.par
	switch final {
	case 'm':
		t.sgr()
	case 'H', 'f':
		t.goTo(ps.arg(1, 1)-1, ps.arg(0, 1)-1)
	case 'A':
		t.cursorUp(ps.arg(0, 1))
	case 'B':
		t.cursorDown(ps.arg(0, 1))
	case 'C':
		t.cursorRight(ps.arg(0, 1))
	case 'D':
		t.cursorLeft(ps.arg(0, 1))
	case 'E':
		t.cursorDown(ps.arg(0, 1))
		t.carriageReturn()
	case 'F':
		t.cursorUp(ps.arg(0, 1))
		t.carriageReturn()
	case 'G', '`':
		t.goToColumn(ps.arg(0, 1) - 1)
	case 'd':
		t.goToRow(ps.arg(0, 1) - 1)
	case 'a':
		t.moveBy(ps.arg(0, 1), 0)
	case 'e':
		t.moveBy(0, ps.arg(0, 1))
	case 'I':
		t.tab(ps.arg(0, 1))
	case 'Z':
		t.backTab(ps.arg(0, 1))
	default:
		t.csiEdit(final)
	}
}

// moveBy is HPR and VPR: relative, and free of the margins but in origin mode.
func (t *Terminal) moveBy(dx, dy int) {
	x, y := t.cx+dx, t.cy+dy
	if t.origin {
		x, y = x-t.left, y-t.top
	}
	t.goTo(x, y)
}

// csiEdit acts on what changes cells, or asks.
func (t *Terminal) csiEdit(final byte) {
	ps := &t.par
	switch final {
	case 'J':
		if ps.arg(0, 0) == 3 {
			t.eraseHistory()
		} else {
			t.eraseDisplay(ps.arg(0, 0), false)
		}
	case 'K':
		t.eraseLine(ps.arg(0, 0), false)
	case 'X':
		t.eraseCharacters(ps.arg(0, 1))
	case '@':
		t.insertCharacters(ps.arg(0, 1))
	case 'P':
		t.deleteCharacters(ps.arg(0, 1))
	case 'L':
		t.insertLines(ps.arg(0, 1))
	case 'M':
		t.deleteLines(ps.arg(0, 1))
	case 'S': // a pending wrap stays
		t.scrollUp(t.top, t.bot, ps.arg(0, 1))
	case '^':
		t.scrollDown(t.top, t.bot, ps.arg(0, 1))
	case 'T':
		if ps.nparams == 0 || ps.nparams == 1 && ps.params[0] != 0 { // with five it is highlight tracking
			t.scrollDown(t.top, t.bot, ps.arg(0, 1))
		}
	case 'b':
		t.repeat(ps.arg(0, 1))
	case 'r':
		t.setTopBottom(ps.arg(0, 1)-1, ps.arg(1, t.nrows)-1)
	case 's':
		if t.leftRightMode {
			t.setLeftRight(ps.arg(0, 1)-1, ps.arg(1, t.cols)-1)
		} else {
			t.saveCursor()
		}
	case 'u':
		t.restoreCursor()
	default:
		t.csiState(final)
	}
}

// csiState acts on modes, tab stops and questions.
func (t *Terminal) csiState(final byte) {
	ps := &t.par
	switch final {
	case 'g':
		switch ps.arg(0, 0) {
		case 0:
			t.tabs.unset(t.cx)
		case 3:
			t.tabs = tabStops{}
		}
	case 'h', 'l':
		for i := range ps.nparams {
			t.setANSIMode(int(ps.params[i]), final == 'h')
		}
	case 'c':
		if ps.arg(0, 0) == 0 {
			t.reply(replyDA1)
		}
	case 'n':
		t.deviceStatus(ps.arg(0, 0))
	case 't':
		t.windowOperation()
	case 'x':
		if v := ps.arg(0, 0); v <= 1 {
			t.replyf("\x1b[%d;1;1;128;128;1;0x", v+2)
		}
	}
}

// csiPrivate acts on sequences with ?.
func (t *Terminal) csiPrivate(final byte) {
	ps := &t.par
	switch final {
	case 'h', 'l':
		for i := range ps.nparams {
			t.setDECMode(int(ps.params[i]), final == 'h')
		}
	case 's':
		for i := range ps.nparams {
			if n := int(ps.params[i]); n != 2026 { // it lasts for one frame and is part of no state that is kept
				t.savedModes.save(n, t.decMode(n) == modeSet)
			}
		}
	case 'r':
		for i := range ps.nparams {
			if on, ok := t.savedModes.saved(int(ps.params[i])); ok {
				t.setDECMode(int(ps.params[i]), on)
			}
		}
	case 'J':
		t.eraseDisplay(ps.arg(0, 0), true)
	case 'K':
		t.eraseLine(ps.arg(0, 0), true)
	case 'n':
		t.privateStatus(ps.arg(0, 0))
	case 'u':
		t.replyf("\x1b[?%du", t.scr.kitty.flags())
	case 'm':
		if ps.arg(0, 0) == 4 {
			t.replyf("\x1b[>4;%dm", t.modes.ModifyOtherKeys)
		}
	case 'g':
		if ps.arg(0, 0) == 4 {
			csiU := 0
			if t.modes.FormatOtherKeys {
				csiU = 1
			}
			t.replyf("\x1b[>4;%df", csiU)
		}
	case 'W':
		if ps.arg(0, 0) == 5 {
			t.tabs = defaultTabs()
		}
	case 'S':
		t.graphicsAttribute(ps.arg(0, 0))
	}
}

// csiPrefixed acts on sequences with > = or <.
func (t *Terminal) csiPrefixed(prefix, final byte) {
	ps := &t.par
	switch string([]byte{prefix, final}) {
	case ">c":
		if ps.arg(0, 0) == 0 {
			t.reply(replyDA2)
		}
	case "=c":
		if ps.arg(0, 0) == 0 {
			t.reply(replyDA3)
		}
	case ">q":
		if ps.arg(0, 0) == 0 {
			t.reply(replyVersion)
		}
	case ">u":
		t.scr.kitty.push(uint8(ps.arg(0, 0)))
	case "<u":
		t.scr.kitty.pop(ps.arg(0, 1))
	case "=u":
		t.scr.kitty.set(uint8(ps.arg(0, 0)), ps.arg(1, 1))
	case ">m":
		t.modifyKeys()
	case ">f": // XTFMTKEYS, of it formatOtherKeys (4)
		if ps.nparams == 0 || ps.params[0] == 4 {
			t.modes.FormatOtherKeys = ps.arg(1, 0) == 1
		}
	case ">n":
		if ps.arg(0, 0) == 4 {
			t.modes.ModifyOtherKeys = 0
		}
	case "=w":
		t.mirrorState()
	}
}

// modifyKeys is XTMODKEYS; of its resources only modifyOtherKeys (4) is kept.
func (t *Terminal) modifyKeys() {
	ps := &t.par
	if ps.nparams == 0 || ps.params[0] == 4 {
		t.modes.ModifyOtherKeys = uint8(min(ps.arg(1, 0), 2))
	}
}

// mirrorState is vev's own CSI = row ; state w, by which a painter hands over what printing does not: state 1 says
// that the row (1-based) goes on in the next, 0 that it does not, 2 that a wrap is pending.
func (t *Terminal) mirrorState() {
	ps := &t.par
	y := ps.arg(0, 1) - 1
	if y >= t.nrows {
		return
	}
	switch ps.arg(1, 0) {
	case 0, 1:
		r := t.touch(y)
		r.wrapped, r.edge = ps.arg(1, 0) == 1, true
	case 2:
		t.pending = true
	}
}

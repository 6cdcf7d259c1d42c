package vt

// modeState is DECRPM's answer about a mode.
type modeState uint8

const (
	modeUnknown modeState = iota
	modeSet
	modeReset
	modeAlwaysSet
	modeAlwaysReset
)

func stateOf(on bool) modeState {
	if on {
		return modeSet
	}
	return modeReset
}

// decMode returns the state of DEC private mode n.
func (t *Terminal) decMode(n int) modeState {
	if on := t.flagMode(n); on != nil {
		return stateOf(*on)
	}
	switch n {
	case 12:
		return stateOf(t.cursorBlink)
	case 9:
		return stateOf(t.modes.Mouse == MouseX10)
	case 1000:
		return stateOf(t.modes.Mouse == MouseNormal)
	case 1002:
		return stateOf(t.modes.Mouse == MouseButton)
	case 1003:
		return stateOf(t.modes.Mouse == MouseAny)
	case 1005:
		return stateOf(t.modes.MouseEncoding == MouseUTF8)
	case 1006:
		return stateOf(t.modes.MouseEncoding == MouseSGR)
	case 1015:
		return stateOf(t.modes.MouseEncoding == MouseURXVT)
	case 1016:
		return stateOf(t.modes.MouseEncoding == MouseSGRPixels)
	case 47, 1047, 1049:
		return stateOf(t.scr == &t.alt)
	case 1048:
		return stateOf(t.scr.saved != savedCursor{})
	case 2, 3, 95: // no VT52 here, a program does not change the size, and DECCOLM always clears, as in a VT420
		return modeAlwaysReset
	}
	return modeUnknown
}

// flagMode returns the flag of the modes that are nothing but a flag (setting them may have effects all the same).
func (t *Terminal) flagMode(n int) *bool {
	switch n {
	case 1:
		return &t.modes.AppCursor
	case 4:
		return &t.kept.smoothScroll
	case 5:
		return &t.modes.ReverseVideo
	case 6:
		return &t.origin
	case 7:
		return &t.autowrap
	case 8:
		return &t.kept.autorepeat
	case 18:
		return &t.kept.printFormFeed
	case 19:
		return &t.kept.printExtent
	case 25:
		return &t.cursorVisible
	case 40:
		return &t.allowColumns
	case 41:
		return &t.moreFix
	case 42:
		return &t.nationalSets
	case 45:
		return &t.reverseWrap
	case 66:
		return &t.modes.AppKeypad
	case 67:
		return &t.modes.Backarrow
	case 69:
		return &t.leftRightMode
	case 1004:
		return &t.modes.FocusEvents
	case 1007:
		return &t.modes.AltScroll
	case 2004:
		return &t.modes.BracketedPaste
	case 2026:
		return &t.modes.Sync
	case 2027:
		return &t.graphemes
	case 2048:
		return &t.sizeReports
	}
	return nil
}

// keptModes are modes that a program can set, save and ask for, and that change nothing here: how fast a scroll looks,
// the repeat rate of a keyboard and what a printer gets.
type keptModes struct {
	smoothScroll  bool // DECSCLM
	autorepeat    bool // DECARM
	printFormFeed bool // DECPFF
	printExtent   bool // DECPEX
}

// setDECMode sets or resets DEC private mode n.
func (t *Terminal) setDECMode(n int, on bool) {
	if flag := t.flagMode(n); flag != nil {
		*flag = on
	}
	switch n {
	case 3:
		t.setColumns()
	case 6:
		t.goTo(0, 0)
	case 12:
		t.cursorBlink = on
	case 42:
		t.updateSlow()
	case 69: // set again it keeps the margins
		if !on {
			t.left, t.right = 0, t.cols-1
		}
	case 2048:
		t.reportSize()
	case 9:
		t.setMouse(MouseX10, on)
	case 1000:
		t.setMouse(MouseNormal, on)
	case 1002:
		t.setMouse(MouseButton, on)
	case 1003:
		t.setMouse(MouseAny, on)
	case 1005:
		t.setMouseEncoding(MouseUTF8, on)
	case 1006:
		t.setMouseEncoding(MouseSGR, on)
	case 1015:
		t.setMouseEncoding(MouseURXVT, on)
	case 1016:
		t.setMouseEncoding(MouseSGRPixels, on)
	default:
		t.setScreenMode(n, on)
	}
}

// setColumns is DECCOLM: it changes no size here, but clears as it does.
func (t *Terminal) setColumns() {
	if !t.allowColumns {
		return
	}
	t.resetMargins()
	t.eraseDisplay(2, false)
	t.goTo(0, 0)
}

// setScreenMode carries out the modes that switch screens, and what xterm does around it.
func (t *Terminal) setScreenMode(n int, on bool) {
	switch n {
	case 47:
		t.showAlternate(on)
	case 1047:
		if !on && t.scr == &t.alt { // which, as any erasing, ends a pending wrap
			t.moved()
			t.clearRows()
		}
		t.showAlternate(on)
	case 1048:
		if on {
			t.saveCursor()
		} else {
			t.restoreCursor()
		}
	case 1049:
		if on {
			t.saveCursor()
			t.showAlternate(true)
			t.moved()
			t.clearRows()
		} else {
			t.showAlternate(false)
			t.restoreCursor()
		}
	}
}

// clearRows blanks the shown screen.
func (t *Terminal) clearRows() {
	for y := range t.rows {
		t.touch(y).blankAll(t.blank())
	}
}

// showAlternate shows the alternate or the main screen; the cursor and the margins are common to both.
func (t *Terminal) showAlternate(on bool) {
	t.joinable = false
	t.scr = &t.main
	if on {
		if t.alt.rows == nil {
			t.alt.rows = t.newRows(t.cols, t.nrows)
		}
		t.scr = &t.alt
	}
	t.rows = t.scr.rows
	t.changed = true
}

// setMouse: as in xterm, resetting one kind of tracking ends any.
func (t *Terminal) setMouse(m MouseTracking, on bool) {
	if !on {
		m = MouseNone
	}
	t.modes.Mouse = m
}

func (t *Terminal) setMouseEncoding(e MouseEncoding, on bool) {
	switch {
	case on:
		t.modes.MouseEncoding = e
	case t.modes.MouseEncoding == e:
		t.modes.MouseEncoding = MouseDefault
	}
}

// ansiMode returns the state of ANSI mode n.
func (t *Terminal) ansiMode(n int) modeState {
	switch n {
	case 2:
		return stateOf(t.keyboardLocked)
	case 4:
		return stateOf(t.insertMode)
	case 12: // send/receive: local echo is the tty's
		return modeAlwaysSet
	case 20:
		return stateOf(t.modes.NewLine)
	case 1, 5, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19: // of block terminals
		return modeAlwaysReset
	}
	return modeUnknown
}

// setANSIMode sets or resets ANSI mode n.
func (t *Terminal) setANSIMode(n int, on bool) {
	switch n {
	case 2:
		t.keyboardLocked = on
	case 4:
		t.insertMode = on
		t.updateSlow()
	case 20:
		t.modes.NewLine = on
	}
}

// setCursorStyle is DECSCUSR.
func (t *Terminal) setCursorStyle(n int) {
	switch n {
	case 0:
		t.cursorStyle, t.cursorBlink = CursorDefault, false
	case 1, 2:
		t.cursorStyle, t.cursorBlink = CursorBlock, n == 1
	case 3, 4:
		t.cursorStyle, t.cursorBlink = CursorUnderline, n == 3
	case 5, 6:
		t.cursorStyle, t.cursorBlink = CursorBar, n == 5
	}
}

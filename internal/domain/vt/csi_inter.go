package vt

// csiIntermediate acts on sequences with an intermediate byte.
func (t *Terminal) csiIntermediate(final byte) {
	ps := &t.par
	if ps.ninter != 1 {
		return
	}
	key := []byte{ps.prefix, byte(ps.inter), final}
	if ps.prefix == 0 {
		key = key[1:]
	}
	t.csiWith(string(key))
}

// csiWith acts on the sequence whose prefix, if any, intermediate and final byte are key.
func (t *Terminal) csiWith(key string) {
	ps := &t.par
	switch key {
	case " q":
		t.setCursorStyle(ps.arg(0, 0))
	case "!p":
		t.softReset()
	case "\"p": // DECSCL: the level stays, the reset that goes with it is made (DEC STD 070, 4-22)
		if level := ps.arg(0, 0); level >= 61 && level <= 65 {
			t.softReset()
		}
	case "\"q":
		t.isoProtected = false
		t.protect(ps.arg(0, 0) == 1)
	case " @":
		t.shiftLeft(ps.arg(0, 1))
	case " A":
		t.shiftRight(ps.arg(0, 1))
	case "'}":
		if t.inRows() { // a pending wrap stays
			t.insertColumns(t.cx, ps.arg(0, 1))
		}
	case "'~":
		if t.inRows() {
			t.deleteColumns(t.cx, ps.arg(0, 1))
		}
	case "#{", "#p":
		t.pushSGR()
	case "#}", "#q":
		t.popSGR()
	case "#P":
		t.pushColors(ps.arg(0, 0))
	case "#Q":
		t.popColors(ps.arg(0, 0))
	case "*x":
		t.rectExtent = ps.arg(0, 0) == 2
	default:
		if !t.rectangle(key) {
			t.request(key)
		}
	}
}

// request answers the questions among them.
func (t *Terminal) request(key string) {
	ps := &t.par
	switch key {
	case "?$p":
		t.replyDECMode(ps.arg(0, 0))
	case "$p":
		t.replyANSIMode(ps.arg(0, 0))
	case "$w":
		t.presentationState(ps.arg(0, 0))
	case "\"v": // DECRQDE: the whole page shows
		t.replyf("\x1b[%d;%d;1;1;1\"w", t.nrows, t.cols)
	case "'|": // DECRQLP: there is no locator
		t.reply("\x1b[0&w")
	case "#R":
		n := len(t.colorStack)
		t.replyf("\x1b[%d;%d#Q", n, n)
	case "#|":
		if a, ok := t.area(0); ok {
			t.reply("\x1b[" + t.sgrReport(t.commonStyle(a)) + "m")
		}
	}
}

// shiftLeft is SL: everything within the margins moves left by n columns. A pending wrap stays.
func (t *Terminal) shiftLeft(n int) {
	if t.inRows() {
		t.joinable = false
		t.deleteColumns(t.left, n)
	}
}

// shiftRight is SR. A pending wrap stays.
func (t *Terminal) shiftRight(n int) {
	if t.inRows() {
		t.joinable = false
		t.insertColumns(t.left, n)
	}
}

package vt

import "bytes"

// clipboardPrefix begins the strings that may be longer than maxString.
var clipboardPrefix = []byte("52;")

// imagePrefix begins the strings that mean nothing here when they are long: nobody is told that one was dropped.
var imagePrefix = []byte("1337;")

// clipboardString is how long an OSC 52 may be: the base64 of maxClipboard and its selections.
const clipboardString = (maxClipboard+2)/3*4 + 64

func (ps *parser) startString(s state) {
	ps.state = s
	ps.str = ps.str[:0]
	ps.strLimit = maxString
	ps.overflow, ps.image, ps.lead = false, false, false
}

func (ps *parser) startSwallow() {
	ps.state = stSwallow
	ps.lead = false
}

// collect consumes bytes of a kept string, up to what may end it.
func (t *Terminal) collect(p []byte) int {
	ps := &t.par
	n := 0
	for n < len(p) && p[n] >= 0x20 && p[n] != 0x9c {
		n++
	}
	ps.appendString(p[:n])
	t.work += uint64(n)
	lead := ps.lead && n == 0 || n > 0 && p[n-1] == c1Lead
	ps.lead = lead && n == len(p)
	if n == len(p) {
		return n
	}
	switch b := p[n]; {
	case b == 0x1b:
		ps.state += stOSCEnd - stOSC
	case b == 0x07 && ps.state == stOSC:
		t.dispatchOSC(true)
	case b == 0x18 || b == 0x1a:
		ps.leaveString()
	case b == 0x9c && lead:
		ps.str = ps.str[:max(len(ps.str)-1, 0)]
		t.dispatchString(false)
	case b >= 0x80:
		ps.appendString(p[n : n+1])
	}
	return n + 1
}

// c1Lead is the first of the two bytes of U+0080 to U+00BF, and never the second of any. Before a 0x9c it makes ST.
const c1Lead = 0xc2

func (ps *parser) appendString(p []byte) {
	if ps.overflow || len(p) == 0 {
		return
	}
	if len(ps.str)+len(p) > ps.strLimit && ps.state == stOSC && ps.begins(clipboardPrefix, p) {
		ps.strLimit = clipboardString
	}
	if len(ps.str)+len(p) > ps.strLimit {
		ps.overflow = true
		ps.image = ps.state == stOSC && ps.begins(imagePrefix, p)
		ps.str = nil
		return
	}
	ps.str = append(ps.str, p...)
}

// begins reports whether the string, with p behind it, begins with prefix.
func (ps *parser) begins(prefix, p []byte) bool {
	n := min(len(ps.str), len(prefix))
	return bytes.Equal(ps.str[:n], prefix[:n]) && bytes.HasPrefix(p, prefix[n:])
}

// leaveString is back to ground with the string forgotten.
func (ps *parser) leaveString() {
	ps.state = stGround
	if cap(ps.str) > keptString {
		ps.str = nil
	}
}

// EndString drops a string (OSC, DCS, APC, PM or SOS) whose end did not come: what is written next is no part of it. The
// owner calls it when a program left one unfinished for too long.
func (t *Terminal) EndString() {
	if t.par.state >= stOSC {
		t.par.leaveString()
	}
}

// swallow skips a string that is not kept.
func (t *Terminal) swallow(p []byte) int {
	ps := &t.par
	for i, b := range p {
		switch {
		case b == 0x1b:
			ps.state = stSwallowEnd
			return i + 1
		case b == 0x18 || b == 0x1a || b == 0x9c && ps.lead:
			ps.state = stGround
			return i + 1
		}
		ps.lead = b == c1Lead
	}
	return len(p)
}

// endString acts on the byte behind an ESC in a string: a backslash makes ST, anything else drops the string and is
// the next sequence's.
func (t *Terminal) endString(b byte) int {
	ps := &t.par
	kept := ps.state != stSwallowEnd
	if b == '\\' {
		if kept {
			ps.state -= stOSCEnd - stOSC
			t.dispatchString(false)
		} else {
			ps.state = stGround
		}
		return 1
	}
	if kept {
		ps.leaveString()
	}
	ps.state = stEscape
	return 0
}

// dispatchString acts on a whole string. bell: it ended with BEL, and so will an answer.
func (t *Terminal) dispatchString(bell bool) {
	if t.par.state == stOSC {
		t.dispatchOSC(bell)
		return
	}
	ps := &t.par
	if ps.overflow {
		t.emit(Event{Kind: EventStringDropped, Count: 1})
	} else {
		t.dcs(ps.str)
	}
	ps.leaveString()
}

func (t *Terminal) dispatchOSC(bell bool) {
	ps := &t.par
	if ps.overflow {
		if !ps.image {
			t.emit(Event{Kind: EventStringDropped, Count: 1})
		}
	} else {
		t.osc(ps.str, bell)
	}
	ps.leaveString()
}

package vt

// state is where in a sequence the parser stands between two bytes.
type state uint8

const (
	stGround     state = iota
	stEscape           // behind ESC
	stEscapeMid        // behind ESC and intermediate bytes
	stCSI              // in the parameters of a CSI
	stCSIMid           // in its intermediate bytes
	stCSIIgnore        // in a malformed CSI, until its final byte
	stDCS              // like stCSI, for a DCS
	stDCSMid           // like stCSIMid, for a DCS
	stOSC              // in a kept OSC string; this and all below are within a string
	stDCSData          // in a kept DCS string
	stSwallow          // in a string that means nothing here: APC, PM, SOS, unknown DCS
	stOSCEnd           // behind an ESC in stOSC
	stDCSDataEnd       // behind an ESC in stDCSData
	stSwallowEnd       // behind an ESC in stSwallow
)

const (
	// maxParams bounds the parameters of a sequence, sub-parameters included; further ones are ignored.
	maxParams = 32
	// maxParam is what a larger parameter counts as. No effect on the screen needs more.
	maxParam = 65535
	// maxIntermediates: a sequence with more of them means nothing.
	maxIntermediates = 2
	// maxString bounds an OSC or DCS string, in bytes. A longer one is dropped whole, with an EventStringDropped.
	maxString = 1 << 20
	// maxClipboard bounds a decoded clipboard write, in bytes; its string may be as long as that needs.
	maxClipboard = 8 << 20
	// keptString is the largest string buffer that is kept for the next string.
	keptString = 64 << 10
)

// parser is the place in the input.
type parser struct {
	state state

	partial  [4]byte // the beginning of a code point
	npartial int
	dropRune bool // the code point that comes next ended a sequence and shows nothing
	dropHead bool // it was in the head of a DCS

	// These are cleared for each sequence, and stand together for that.
	nparams int // parameters begun; the last is still growing
	ninter  int
	sub     uint32 // bit i: parameter i follows a colon
	inter   uint16
	prefix  byte // < = > ? of a CSI or DCS, 0 without

	params [maxParams]int32
	final  byte // of the DCS in stDCSData

	str      []byte // of the OSC or DCS
	strLimit int
	lead     bool // the string's last byte was c1Lead
	overflow bool // the string was longer than its limit
	image    bool // and of a kind that is not missed
}

// Write feeds output of the program. It takes all of p, never fails and never waits; how the output is cut into writes
// makes no difference. p is not kept.
func (t *Terminal) Write(p []byte) (int, error) {
	n := len(p)
	t.begin()
	for len(p) > 0 {
		p = p[t.step(p):]
	}
	if t.changed {
		t.main.below = nil
	}
	t.commit()
	return n, nil
}

// step consumes at least one byte of the non-empty p in the current state, or changes the state.
func (t *Terminal) step(p []byte) int {
	switch t.par.state {
	case stGround:
		if t.par.npartial > 0 {
			return t.resumeRune(p)
		}
		return t.ground(p)
	case stEscape:
		return t.escape(p[0])
	case stEscapeMid:
		return t.escapeMid(p[0])
	case stCSI, stDCS:
		return t.parameters(p)
	case stCSIMid, stDCSMid:
		return t.intermediates(p[0])
	case stCSIIgnore:
		return t.ignoreCSI(p[0])
	case stOSC, stDCSData:
		return t.collect(p)
	case stSwallow:
		return t.swallow(p)
	case stOSCEnd, stDCSDataEnd, stSwallowEnd:
		return t.endString(p[0])
	}
	panic("vt: unknown parser state")
}

// ground consumes text, controls and the sequences that are whole in p.
func (t *Terminal) ground(p []byte) int {
	i := 0
	for i < len(p) {
		b := p[i]
		switch {
		case b >= 0x20 && b < 0x7f:
			n := 1 // one alone is common between two moves of the cursor
			if i+1 < len(p) && p[i+1]-0x20 < 0x7f-0x20 {
				n = asciiRun(p[i:])
			}
			t.printASCII(p[i : i+n])
			i += n
		case b == 0x1b:
			if i+1 >= len(p) || p[i+1] != '[' {
				t.par.state = stEscape
				return i + 1
			}
			i += 2
			if n := t.wholeCSI(p[i:]); n > 0 {
				i += n
				continue
			}
			t.par.startSequence(stCSI)
			if i < len(p) {
				i += t.parameters(p[i:])
			}
			if t.par.state != stGround {
				return i
			}
		case b < 0x20:
			t.control(b)
			i++
		case b == 0x7f:
			t.delete()
			i++
		default:
			if !t.par.dropRune {
				if n := t.printText(p[i:]); n > 0 {
					i += n
					continue
				}
			}
			r, n, status := decodeRune(p[i:])
			if status == decodePartial {
				t.par.npartial = copy(t.par.partial[:], p[i:])
				return len(p)
			}
			i += n
			if r < 0xa0 {
				t.par.dropRune = false
				t.control8(r)
				return i
			}
			if t.par.dropRune {
				t.par.dropped()
				return i
			}
			t.printRune(r)
		}
	}
	return i
}

// resumeRune goes on with a code point that the last Write cut.
func (t *Terminal) resumeRune(p []byte) int {
	ps := &t.par
	ps.partial[ps.npartial] = p[0]
	r, n, status := decodeRune(ps.partial[:ps.npartial+1])
	if status == decodePartial {
		ps.npartial++
		return 1
	}
	used := n - ps.npartial // 0 when p[0] does not go on: it is the next character's
	ps.npartial = 0
	switch {
	case r < 0xa0:
		ps.dropRune = false
		t.control8(r)
	case ps.dropRune:
		ps.dropped()
	default:
		t.printRune(r)
	}
	return used
}

func (ps *parser) startSequence(s state) {
	ps.state = s
	ps.prefix, ps.inter, ps.ninter, ps.sub, ps.nparams = 0, 0, 0, 0, 0
}

// always handles what means the same anywhere in a sequence; other bytes it ignores.
func (t *Terminal) always(b byte) {
	switch {
	case b == 0x1b:
		t.par.state = stEscape
		t.lastRune = 0
	case b == 0x18 || b == 0x1a: // CAN, SUB
		t.par.state = stGround
		t.lastRune = 0
	case b < 0x20:
		t.control(b)
	}
}

// wholeCSI consumes a CSI whose short numbers, semicolons and final byte all lead p, and returns its length; 0 is any other,
// whose sequence is to be started. It is parameters for the common case.
func (t *Terminal) wholeCSI(p []byte) int {
	ps := &t.par
	ps.ninter, ps.sub, ps.inter, ps.prefix = 0, 0, 0, 0
	i := 0
	for n := range maxParams {
		if len(p)-i < 4 {
			return 0
		}
		v, b := int32(p[i]-'0'), p[i]
		if v <= 9 {
			more, digits := moreDigits(v, p[i+1], p[i+2])
			v = more
			i += digits
			b = p[i]
		} else {
			v = 0
		}
		ps.params[n] = v
		i++
		if b == ';' {
			continue
		}
		if b-0x40 >= 0x7f-0x40 {
			return 0
		}
		ps.nparams = n + 1
		if i == 1 {
			ps.nparams = 0
		}
		t.plainSequence(b)
		return i
	}
	return 0
}

// moreDigits is v with up to two more digits, for as long as a and b are some, and how many it has then. Whether a
// number has one digit or three no branch can foresee, so there is none.
func moreDigits(v int32, a, b byte) (int32, int) {
	y, z := int32(a-'0'), int32(b-'0')
	two := (y - 10) >> 31 // all bits, or none
	three := two & (z - 10) >> 31
	v += two & (v*9 + y)
	v += three & (v*9 + z)
	return v, 1 - int(two+three)
}

// parameters consumes the parameters of a CSI or DCS, and its final byte when there is nothing between.
func (t *Terminal) parameters(p []byte) int {
	ps := &t.par
	for i := 0; i < len(p); i++ {
		b := p[i]
		switch {
		case b-'0' <= 9:
			i += ps.number(p[i:]) - 1
		case b >= 0x40 && b < 0x7f:
			t.finish(b)
			return i + 1
		case b == ';' || b == ':':
			ps.nextParam(b == ':')
		case b >= 0x20 && b < 0x30:
			if ps.state == stCSI {
				ps.state = stCSIMid
			} else {
				ps.state = stDCSMid
			}
			return i
		case b >= '<' && b <= '?':
			if ps.nparams > 0 || ps.prefix != 0 {
				ps.malformed()
				return i + 1
			}
			ps.prefix = b
		case b >= 0x80:
			t.abandon()
			return i
		default:
			t.inSequence(b)
			if s := ps.state; s != stCSI && s != stDCS {
				return i + 1
			}
		}
	}
	return len(p)
}

// number consumes the digits that p begins with, as part of the growing parameter.
func (ps *parser) number(p []byte) int {
	if ps.nparams == 0 {
		ps.params[0], ps.nparams = 0, 1
	}
	at := ps.nparams - 1
	v := int32(0)
	if at < maxParams {
		v = ps.params[at]
	}
	i := 0
	for i < len(p) && p[i]-'0' <= 9 {
		v = min(v*10+int32(p[i]-'0'), maxParam)
		i++
	}
	if at < maxParams {
		ps.params[at] = v
	}
	return i
}

// inSequence handles a control inside a CSI or in the head of a DCS; the latter ignores all but those that end it.
func (t *Terminal) inSequence(b byte) {
	dcs := t.par.state == stDCS || t.par.state == stDCSMid
	if !dcs || b == 0x1b || b == 0x18 || b == 0x1a {
		t.always(b)
	}
}

// nextParam begins a new parameter behind ; or :.
func (ps *parser) nextParam(colon bool) {
	if ps.nparams == 0 {
		ps.params[0], ps.nparams = 0, 1
	}
	if ps.nparams > maxParams {
		return
	}
	ps.nparams++
	if ps.nparams <= maxParams {
		ps.params[ps.nparams-1] = 0
		if colon {
			ps.sub |= 1 << (ps.nparams - 1)
		}
	}
}

// abandon is called at the first byte of a code point over ASCII inside a sequence: the two are dropped together, as in
// xterm, and in the head of a DCS the whole string. U+0080 to U+009F are still controls.
func (t *Terminal) abandon() {
	ps := &t.par
	t.lastRune = 0
	ps.dropRune = true
	ps.dropHead = ps.state == stDCS || ps.state == stDCSMid
	ps.state = stGround
}

// dropped is called behind that code point.
func (ps *parser) dropped() {
	ps.dropRune = false
	if ps.dropHead {
		ps.startSwallow()
	}
}

func (ps *parser) malformed() {
	if ps.state == stDCS || ps.state == stDCSMid {
		ps.startSwallow()
	} else {
		ps.state = stCSIIgnore
	}
}

// intermediates consumes one byte behind the parameters.
func (t *Terminal) intermediates(b byte) int {
	ps := &t.par
	switch {
	case b >= 0x20 && b < 0x30:
		ps.addIntermediate(b)
	case b >= 0x40 && b < 0x7f:
		t.finish(b)
	case b >= 0x80:
		t.abandon()
		return 0
	case b >= 0x30 && b < 0x40:
		ps.malformed()
	default:
		t.inSequence(b)
	}
	return 1
}

func (ps *parser) addIntermediate(b byte) {
	ps.inter = ps.inter<<8 | uint16(b)
	ps.ninter++
}

func (t *Terminal) ignoreCSI(b byte) int {
	switch {
	case b >= 0x40 && b < 0x7f:
		t.par.state = stGround
		t.lastRune = 0
	case b >= 0x80:
		t.abandon()
		return 0
	default:
		t.always(b)
	}
	return 1
}

// finish acts on the final byte of a CSI, or begins the data of a DCS.
func (t *Terminal) finish(final byte) {
	ps := &t.par
	ps.nparams = min(ps.nparams, maxParams)
	if ps.state == stCSI && ps.prefix == 0 {
		t.plainSequence(final)
		return
	}
	if ps.state == stDCS || ps.state == stDCSMid {
		ps.final = final
		if t.keepsDCS() {
			ps.startString(stDCSData)
		} else {
			ps.startSwallow()
		}
		return
	}
	ps.state = stGround
	t.lastRune = 0
	if ps.ninter <= maxIntermediates {
		t.csi(final)
	}
}

// plainSequence acts on a CSI without prefix and intermediate bytes.
func (t *Terminal) plainSequence(final byte) {
	t.par.state = stGround
	if final != 'b' {
		t.lastRune = 0
	}
	t.csiPlain(final)
}

// arg returns parameter i, or def when it is missing or 0.
func (ps *parser) arg(i, def int) int {
	if i < ps.nparams && ps.params[i] != 0 {
		return int(ps.params[i])
	}
	return def
}

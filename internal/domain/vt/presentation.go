package vt

import (
	"bytes"
	"strconv"
	"strings"
)

// charsetNames are what DECCIR reports of each set: intermediates and the final byte of its designation.
var charsetNames = [...]string{
	charsetASCII: "B", charsetDEC: "0", charsetLatin1: "A", charsetUK: "A", charsetDutch: "4", charsetFinnish: "C",
	charsetFrench: "R", charsetFrenchCanadian: "Q", charsetGerman: "K", charsetItalian: "Y", charsetNorwegian: "E",
	charsetPortuguese: "%6", charsetSpanish: "Z", charsetSwedish: "H", charsetSwiss: "=",
}

// The bits of DECCIR's fields, each over '@'.
const (
	cirBold      = 1
	cirUnderline = 2
	cirBlink     = 4
	cirInverse   = 8

	cirProtected = 1

	cirOrigin  = 1
	cirSingle2 = 2
	cirSingle3 = 4
	cirPending = 8
)

// presentationState answers DECRQPSR: 1 the cursor (DECCIR), 2 the tab stops (DECTABSR).
func (t *Terminal) presentationState(what int) {
	switch what {
	case 1:
		t.reply("\x1bP1$u" + t.cursorReport() + "\x1b\\")
	case 2:
		var b strings.Builder
		for x := range t.cols {
			if t.tabs.has(x) {
				if b.Len() > 0 {
					b.WriteByte('/')
				}
				b.WriteString(strconv.Itoa(x + 1))
			}
		}
		t.reply("\x1bP2$u" + b.String() + "\x1b\\")
	}
}

// cursorReport is the text of DECCIR: place, page, renditions, protection, flags, G0 to G3 in use, which of them have 96
// characters, and their names.
func (t *Terminal) cursorReport() string {
	x, y := t.reportedCursor()
	a := t.pen.attr()
	rendition := field(a&Bold != 0, cirBold) | field(a&underlineMask != 0, cirUnderline) |
		field(a&Blink != 0, cirBlink) | field(a&Inverse != 0, cirInverse)
	flags := field(t.origin, cirOrigin) | field(t.singleShift == 2, cirSingle2) |
		field(t.singleShift == 3, cirSingle3) | field(t.pending, cirPending)
	sizes, names := byte('@'), ""
	for i, cs := range t.charsets {
		sizes |= field(cs == charsetLatin1, 1<<i)
		names += charsetNames[cs]
	}
	return strconv.Itoa(y) + ";" + strconv.Itoa(x) + ";1;" + string([]byte{
		rendition, ';', field(a&protected != 0, cirProtected), ';', flags, ';',
		'0' + t.gl, ';', '2', ';', sizes, ';',
	}) + names
}

// field is a bit of a DECCIR field, if it is on.
func field(on bool, bit byte) byte {
	if on {
		return '@' | bit
	}
	return '@'
}

// restorePresentation is DECRSPS: what presentationState answered is put back. A report that is not whole changes
// nothing.
func (t *Terminal) restorePresentation(what int, report []byte) {
	switch what {
	case 1:
		t.restoreCursorReport(bytes.Split(report, []byte{';'}))
	case 2:
		t.tabs = tabStops{}
		for number := range bytes.SplitSeq(report, []byte{'/'}) {
			if n, err := strconv.Atoi(string(number)); err == nil && n >= 1 && n <= MaxCols {
				t.tabs.set(n - 1)
			}
		}
	}
}

func (t *Terminal) restoreCursorReport(f [][]byte) {
	if len(f) != 10 {
		return
	}
	y, errY := strconv.ParseUint(string(f[0]), 10, 16)
	x, errX := strconv.ParseUint(string(f[1]), 10, 16)
	for _, s := range f[3:9] {
		if len(s) != 1 {
			return
		}
	}
	names, ok := readCharsets(f[9], f[8][0])
	gl := f[6][0] - '0'
	if errY != nil || errX != nil || !ok || gl > 3 {
		return
	}
	rendition, flags := f[3][0], f[5][0]
	t.origin = flags&cirOrigin != 0
	t.goTo(max(int(x), 1)-1, max(int(y), 1)-1)
	pen := t.pen
	a := pen.attr() &^ reversible
	for _, r := range [...]struct {
		bit  byte
		attr Attrs
	}{{cirBold, Bold}, {cirUnderline, Attrs(0).WithUnderline(UnderlineSingle)}, {cirBlink, Blink}, {cirInverse, Inverse}} {
		if rendition&r.bit != 0 {
			a |= r.attr
		}
	}
	pen.setAttr(a)
	t.setPen(pen)
	t.protect(f[4][0]&cirProtected != 0)
	t.charsets, t.gl, t.singleShift = names, gl, 0
	if flags&cirSingle2 != 0 {
		t.singleShift = 2
	} else if flags&cirSingle3 != 0 {
		t.singleShift = 3
	}
	t.updateSlow()
	t.pending = flags&cirPending != 0 && t.cx == t.lineEnd()-1
}

// readCharsets reads the names of four sets; bit i of sizes says that the i-th has 96 characters.
func readCharsets(names []byte, sizes byte) (sets [4]charset, ok bool) {
	for i := range sets {
		switch {
		case len(names) >= 2 && string(names[:2]) == charsetNames[charsetPortuguese]:
			sets[i], names = charsetPortuguese, names[2:]
			continue
		case len(names) == 0:
			return sets, false
		case sizes&(1<<i) != 0:
			sets[i] = set96(names[0])
		default:
			sets[i] = set94(names[0])
		}
		names = names[1:]
	}
	return sets, len(names) == 0
}

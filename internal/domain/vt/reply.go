package vt

import "fmt"

// maxReplyBytes bounds the answers nobody took yet; further ones are dropped whole.
const maxReplyBytes = 64 << 10

// The fixed answers. Programs choose features by them. DA1 says VT420 class with selective erase (6), national sets (9),
// state reports (17), left and right margins (21), colour (22), rectangles (28) and clipboard writing (52), and by what
// it leaves out no printer, no sixel (4) and no locator. DA2 says xterm of a version that has all this engine has.
const (
	replyDA1     = "\x1b[?64;6;9;17;21;22;28;52c"
	replyDA2     = "\x1b[>41;379;0c"
	replyDA3     = "\x1bP!|00000000\x1b\\"
	replyVersion = "\x1bP>|vev(1)\x1b\\"
)

// reply queues an answer to the program. Every caller passes bytes of its own making, never the program's.
func (t *Terminal) reply(s string) {
	t.work += uint64(len(s))
	if len(t.replies)+len(s) <= maxReplyBytes {
		t.replies = append(t.replies, s...)
	}
}

func (t *Terminal) replyf(format string, args ...any) {
	t.reply(fmt.Sprintf(format, args...))
}

// TakeReplies returns what is to be sent to the program, in the order of its questions, and forgets it. It never holds
// bytes the program chose. At most maxReplyBytes gather; further answers are dropped whole until they are taken. The
// slice is valid until the next Write.
func (t *Terminal) TakeReplies() []byte {
	r := t.replies
	t.replies = t.replies[:0]
	return r
}

// deviceStatus answers DSR.
func (t *Terminal) deviceStatus(what int) {
	switch what {
	case 5:
		t.reply("\x1b[0n")
	case 6:
		x, y := t.reportedCursor()
		t.replyf("\x1b[%d;%dR", y, x)
	}
}

// reportedCursor is the cursor as reports have it: 1-based, in origin mode relative to the margins.
func (t *Terminal) reportedCursor() (x, y int) {
	if t.origin {
		return t.cx - t.left + 1, t.cy - t.top + 1
	}
	return t.cx + 1, t.cy + 1
}

// privateStatus answers DSR with ?.
func (t *Terminal) privateStatus(what int) {
	switch what {
	case 6:
		x, y := t.reportedCursor()
		t.replyf("\x1b[?%d;%d;1R", y, x)
	case 15: // no printer
		t.reply("\x1b[?13n")
	case 25: // user keys unlocked: there are none
		t.reply("\x1b[?20n")
	case 26: // keyboard: North American, ready
		t.reply("\x1b[?27;1;0;0n")
	case 53, 55: // no locator
		t.reply("\x1b[?50n")
	case 56:
		t.reply("\x1b[?57;0n")
	case 62: // macro space
		t.reply("\x1b[0000*{")
	case 63: // checksum of the macros: there are none
		t.replyf("\x1bP%d!~0000\x1b\\", t.par.arg(1, 0))
	case 75: // data integrity
		t.reply("\x1b[?70n")
	case 85: // no multiple sessions
		t.reply("\x1b[?83n")
	case 996: // dark or light, by the background that OSC 11 reports
		if t.isDark() {
			t.reply("\x1b[?997;1n")
		} else {
			t.reply("\x1b[?997;2n")
		}
	}
}

// graphicsAttribute answers XTSMGRAPHICS. The items are sixel's colour registers (1) and geometry (2) and ReGIS's
// geometry (3): none is there, which is an error of the item's (3); of others, an error of the question's (1).
func (t *Terminal) graphicsAttribute(item int) {
	status := 1
	if item >= 1 && item <= 3 {
		status = 3
	}
	t.replyf("\x1b[?%d;%d;0S", item, status)
}

// reportSize tells the program the size while mode 2048 is set; pixels are not known.
func (t *Terminal) reportSize() {
	if t.sizeReports {
		t.replyf("\x1b[48;%d;%d;0;0t", t.nrows, t.cols)
	}
}

func (t *Terminal) replyDECMode(n int)  { t.replyf("\x1b[?%d;%d$y", n, t.decMode(n)) }
func (t *Terminal) replyANSIMode(n int) { t.replyf("\x1b[%d;%d$y", n, t.ansiMode(n)) }

// windowOperation is XTWINOPS: of it the size of the text area, the state, and the title stack. Titles are never
// reported: the answer would be bytes the program chose.
func (t *Terminal) windowOperation() {
	ps := &t.par
	switch ps.arg(0, 0) {
	case 11:
		t.reply("\x1b[1t")
	case 18:
		t.replyf("\x1b[8;%d;%dt", t.nrows, t.cols)
	case 19:
		t.replyf("\x1b[9;%d;%dt", t.nrows, t.cols)
	case 22:
		if w := ps.arg(1, 0); (w == 0 || w == 2) && len(t.titles) < maxTitles {
			t.titles = append(t.titles, t.title)
		}
	case 23:
		if n := len(t.titles) - 1; n >= 0 && (ps.arg(1, 0) == 0 || ps.arg(1, 0) == 2) {
			t.setTitle(t.titles[n])
			t.titles = t.titles[:n]
		}
	}
}

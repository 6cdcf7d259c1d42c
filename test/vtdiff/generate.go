package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// profile is a kind of session: what may happen in it, and who can judge it.
type profile struct {
	name string
	// families are the kinds of operations, with how often each comes.
	families []family
	// voices that know all of them.
	xterm, xtermjs bool
	// prologue is what the session begins with.
	prologue string
	// resizes: the size changes in between.
	resizes bool
	// narrow: no wide characters; what left and right margins do to them is nobody's standard.
	narrow bool
	// ascii: no character beyond ASCII.
	ascii bool
	// styles are the operations that change the pen.
	styles func(g *generator) string
}

// family is a kind of operation.
type family struct {
	weight int
	op     func(g *generator) string
}

// The profiles. Resizes on the main screen are for xterm.js alone, as xterm does not wrap lines anew; what only xterm
// knows (left and right margins, rectangles, reports) is for xterm alone.
var profiles = []profile{
	{
		name: "common", xterm: true, xtermjs: true, styles: (*generator).plainStyle,
		families: []family{{30, (*generator).text}, {10, (*generator).c0}, {25, (*generator).cursor}, {20, (*generator).edit}, {6, (*generator).tabs}, {12, (*generator).mode}, {4, (*generator).charset}, {4, (*generator).noise}},
	},
	{
		name: "screens", xterm: true, xtermjs: true, styles: (*generator).plainStyle,
		families: []family{{30, (*generator).text}, {10, (*generator).c0}, {10, (*generator).cursor}, {10, (*generator).edit}, {25, (*generator).screens}},
	},
	{
		name: "margins", xterm: true, narrow: true, styles: (*generator).oldStyle,
		families: []family{{30, (*generator).text}, {10, (*generator).c0}, {25, (*generator).cursor}, {20, (*generator).edit}, {6, (*generator).tabs}, {8, (*generator).mode}, {15, (*generator).margins}, {6, (*generator).guarded}},
	},
	{
		name: "rectangles", xterm: true, narrow: true, styles: (*generator).oldStyle,
		families: []family{{25, (*generator).text}, {10, (*generator).c0}, {10, (*generator).cursor}, {10, (*generator).edit}, {4, (*generator).mode}, {6, (*generator).margins}, {25, (*generator).rectangles}, {6, (*generator).guarded}},
	},
	{
		name: "reports", xterm: true, narrow: true, prologue: "\x1b[?1;6;7;25;45;2004s", styles: (*generator).oldStyle,
		families: []family{{20, (*generator).text}, {10, (*generator).cursor}, {10, (*generator).mode}, {10, (*generator).margins}, {10, (*generator).screens}, {5, (*generator).tabs}, {25, (*generator).report}, {8, (*generator).kept}},
	},
	{
		name: "charsets", xterm: true, narrow: true, styles: (*generator).oldStyle,
		families: []family{{30, (*generator).text}, {5, (*generator).c0}, {10, (*generator).cursor}, {5, (*generator).edit}, {30, (*generator).sets}},
	},
	{
		name: "national", xterm: true, narrow: true, ascii: true, prologue: "\x1b[?42h", styles: (*generator).oldStyle,
		families: []family{{30, (*generator).text}, {5, (*generator).c0}, {5, (*generator).cursor}, {30, (*generator).sets}},
	},
	{
		name: "styles", xterm: true, xtermjs: true, styles: (*generator).directStyle,
		families: []family{{20, (*generator).text}, {10, (*generator).c0}, {10, (*generator).cursor}, {15, (*generator).edit}},
	},
	{
		name: "extras", xtermjs: true, styles: (*generator).extraStyle,
		families: []family{{20, (*generator).text}, {10, (*generator).cursor}},
	},
	{
		name: "parser", xterm: true, xtermjs: true, styles: (*generator).plainStyle,
		families: []family{{20, (*generator).text}, {5, (*generator).cursor}, {30, (*generator).noise}},
	},
	{
		name: "utf8", xterm: true, styles: (*generator).plainStyle,
		families: []family{{20, (*generator).text}, {5, (*generator).c0}, {5, (*generator).cursor}, {10, (*generator).illFormed}},
	},
	{
		name: "c1", xtermjs: true, styles: (*generator).plainStyle,
		families: []family{{20, (*generator).text}, {5, (*generator).cursor}, {10, (*generator).c1}},
	},
	{
		name: "reflow", xtermjs: true, resizes: true, styles: (*generator).plainStyle,
		families: []family{{40, (*generator).lines}},
	},
	{
		name: "crop", xterm: true, xtermjs: true, resizes: true, prologue: "\x1b[?1049h", styles: (*generator).plainStyle,
		families: []family{{30, (*generator).text}, {10, (*generator).c0}, {20, (*generator).cursor}, {10, (*generator).edit}},
	},
}

// generator makes the operations of one session.
type generator struct {
	*rand.Rand
	s *session
	// cols and rows are the size at this place of the session.
	cols, rows int
}

// generate returns the session of a seed.
func generate(seed uint64) *session {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x7665762d7674))}
	p := profiles[g.IntN(len(profiles))]
	g.s = &session{profile: p}
	g.cols, g.rows = g.size()
	g.s.cols, g.s.rows = g.cols, g.rows
	if p.prologue != "" {
		g.s.steps = append(g.s.steps, step{bytes: p.prologue})
	}
	total := 0
	for _, f := range p.families {
		total += f.weight
	}
	for range 3 + g.IntN(40) {
		n := g.IntN(total + 15)
		for _, f := range p.families {
			if n -= f.weight; n < 0 {
				g.s.steps = append(g.s.steps, step{bytes: f.op(g)})
				break
			}
		}
		if n >= 0 {
			g.s.steps = append(g.s.steps, step{bytes: p.styles(g)})
		}
		// Only once where sizes crop: what comes back behind a second is what the others kept by chance.
		if p.resizes && g.IntN(8) == 0 && (p.prologue == "" || g.cols == g.s.cols && g.rows == g.s.rows) {
			g.cols, g.rows = g.size()
			if p.prologue == "" { // xterm.js leaves the cursor's line for the shell to draw again
				g.s.steps = append(g.s.steps, step{bytes: "\r\n"})
			}
			g.s.steps = append(g.s.steps, step{cols: g.cols, rows: g.rows})
		}
	}
	return g.s
}

// size is mostly small, as everything of interest happens at edges; sometimes tiny, and sometimes a usual one.
func (g *generator) size() (cols, rows int) {
	switch g.IntN(30) {
	case 0, 1:
		return 2 + g.IntN(3), 1 + g.IntN(3)
	case 2:
		return 40 + g.IntN(60), 10 + g.IntN(20)
	}
	return 4 + g.IntN(30), 2 + g.IntN(9)
}

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// number is a parameter: mostly small, sometimes left out, 0 or far too large.
func (g *generator) number(limit int) string {
	switch g.IntN(12) {
	case 0:
		return ""
	case 1:
		return "0"
	case 2:
		return pick(g, "99", "999", "32767")
	}
	return strconv.Itoa(1 + g.IntN(limit+1))
}

func (g *generator) x() string { return g.number(g.cols) }
func (g *generator) y() string { return g.number(g.rows) }

func (g *generator) text() string {
	kind := g.IntN(12)
	switch {
	case g.s.profile.ascii:
		kind = 5
	case g.s.profile.narrow:
		kind = 2 + g.IntN(10)
	}
	switch kind {
	case 0, 1:
		return pick(g, "中", "宽字", "한", "あ", "中x文")
	case 2:
		// No base and mark that have a code point together: xterm replaces the two by it.
		return pick(g, "q\u0301", "q\u0308\u0301", "─│", "\u00e9")
	case 3:
		return strings.Repeat(string(rune('a'+g.IntN(26))), g.cols)
	case 4:
		return strings.Repeat(pick(g, "ab─", wideUnless(g.s.profile.narrow, "ab中")), 1+g.IntN(g.cols))
	}
	n := 1 + g.IntN(g.cols)
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(pick(g, ' ', '~', 'A'+rune(g.IntN(26)), 'a'+rune(g.IntN(26)), '0'+rune(g.IntN(10)), '-', 'q', 'x'))
	}
	return string(b)
}

func wideUnless(narrow bool, text string) string {
	if narrow {
		return "abc"
	}
	return text
}

// lines is text as a shell prints it.
func (g *generator) lines() string {
	return pick(g, g.text(), g.text()+"\r\n", "\r\n", g.text()+g.text()+g.text()+"\r\n")
}

func (g *generator) c0() string {
	return pick(g, "\r", "\n", "\b", "\t", "\r\n", "\v", "\f", "\x00", "\x7f", "\b\b", "\t\t", "\a")
}

func (g *generator) cursor() string {
	switch g.IntN(20) {
	case 0, 1, 2, 3:
		return "\x1b[" + g.y() + ";" + g.x() + pick(g, "H", "f")
	case 4:
		return "\x1b[" + g.y() + pick(g, "A", "B", "E", "F", "d", "e")
	case 5, 6, 7, 8:
		return "\x1b[" + g.y() + string(pick(g, 'A', 'B', 'E', 'F', 'd', 'e'))
	case 9, 10, 11, 12:
		return "\x1b[" + g.x() + string(pick(g, 'C', 'D', 'G', '`', 'a'))
	case 13, 14:
		return g.tabs()
	case 15:
		return pick(g, "\x1b7", "\x1b8", "\x1b[s", "\x1b[u")
	}
	return pick(g, "\x1bD", "\x1bE", "\x1bM", "\x1b[H")
}

// tabs is what sets and clears stops, and moves by them.
func (g *generator) tabs() string {
	switch g.IntN(3) {
	case 0:
		return pick(g, "\x1bH", "\x1b[g", "\x1b[0g", "\x1b[1g", "\x1b[2g", "\x1b[3g")
	case 1:
		return pick(g, "\t", "\t\t")
	}
	return "\x1b[" + g.number(3) + string(pick(g, 'I', 'Z'))
}

func (g *generator) edit() string {
	switch g.IntN(16) {
	case 0, 1:
		return "\x1b[" + pick(g, "", "0", "1", "2") + "J"
	case 2, 3:
		return "\x1b[" + pick(g, "", "0", "1", "2") + "K"
	case 4, 5, 6, 7, 8:
		return "\x1b[" + g.x() + string(pick(g, '@', 'P', 'X'))
	case 9, 10, 11, 12:
		return "\x1b[" + g.y() + string(pick(g, 'L', 'M', 'S', 'T'))
	case 13:
		return pick(g, "\x1b[1\"q", "\x1b[0\"q", "\x1b[2\"q", "\x1b[?J", "\x1b[?1J", "\x1b[?2J", "\x1b[?K", "\x1b[?1K", "\x1b[?2K")
	case 14:
		return pick(g, string(rune('a'+g.IntN(26))), "─", wideUnless(g.s.profile.narrow, "中")) + "\x1b[" + g.x() + "b"
	}
	return "\x1b[" + g.y() + ";" + g.y() + "r"
}

func (g *generator) mode() string {
	return pick(g, "\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h", "\x1b[?6h", "\x1b[?6l", "\x1b[20h", "\x1b[20l", "\x1b[?25l", "\x1b[?25h",
		"\x1b[?1h", "\x1b[?5h", "\x1b[?5l", "\x1b[?45h", "\x1b[?45l", "\x1b[!p", "\x1bc", "\x1b#8", "\x1b=", "\x1b>", "\x1b[?2004h")
}

func (g *generator) charset() string {
	return pick(g, "\x1b(0", "\x1b(B", "\x1b)0", "\x1b)B", "\x0e", "\x0f", "\x1b*B", "\x1bn", "\x1bo", "lqqk", "\x1b(0x\x1b(B")
}

func (g *generator) screens() string {
	return pick(g, "\x1b[?47h", "\x1b[?47l", "\x1b[?1047h", "\x1b[?1047l", "\x1b[?1048h", "\x1b[?1048l", "\x1b[?1049h", "\x1b[?1049l",
		"\x1b7", "\x1b8", "\x1b[2;4r", "\x1b[r", "\x1b[?6h", "\x1b[2J", "\x1b[H")
}

// guarded is what keeps cells from being erased, in both ways, and what erases.
func (g *generator) guarded() string {
	return pick(g, "\x1bV", "\x1bW", "\x1b[1\"q", "\x1b[2\"q", "\x1b[J", "\x1b[1K", "\x1b[?K", "\x1b[?1J", "\x1b[2X", "\x1b["+g.area()+"${", "\x1b["+g.area()+"$z")
}

// kept is what is put away and taken back.
func (g *generator) kept() string {
	mode := pick(g, "1", "6", "7", "25", "45", "2004")
	return pick(g, "\x1b[#{", "\x1b[1;7;31#{", "\x1b[5;30#p", "\x1b[#}", "\x1b[#p", "\x1b[#q", "\x1b[?"+mode+"s", "\x1b[?"+mode+"r", "\x1b7", "\x1b8", "\x1b[?1048h", "\x1b[?1048l",
		"\x1b[22;2t", "\x1b[23;2t", "\x1b]2;"+pick(g, "a", "b", "c")+"\x07")
}

// sets is designations of sets of 94, shifts and what shows them. What xterm makes of one of 96 outlasts its resets.
func (g *generator) sets() string {
	switch g.IntN(3) {
	case 0:
		slots := []string{"(", ")", "+"}
		if g.s.profile.ascii { // G2 is GR, and in xterm another set there ends UTF-8
			slots = append(slots, "*")
		}
		return "\x1b" + pick(g, slots...) + pick(g, "0", "A", "B", "4", "5", "C", "R", "f", "Q", "9", "K", "Y", "`", "E", "6", "%6", "Z", "7", "H", "=")
	case 1:
		return pick(g, "\x0e", "\x0f", "\x1bn", "\x1bo", "\x1bN", "\x1bO")
	}
	return pick(g, "#@[\\]^_`{|}~", "lqkx", "\x1bN#a", "\x1bO~b")
}

func (g *generator) margins() string {
	switch g.IntN(6) {
	case 0, 1:
		return pick(g, "\x1b[?69h", "\x1b[?69h", "\x1b[?69h", "\x1b[?69l")
	case 2, 3:
		return "\x1b[" + g.x() + ";" + g.x() + "s"
	case 4:
		return "\x1b[" + g.number(4) + pick(g, "'}", "'~", " @", " A", "^")
	}
	return pick(g, "\x1b6", "\x1b9", "\x1bD", "\x1bM", "\x1b[?6h")
}

func (g *generator) area() string { return g.y() + ";" + g.x() + ";" + g.y() + ";" + g.x() }

func (g *generator) rectangles() string {
	switch g.IntN(8) {
	case 0, 1:
		return "\x1b[" + pick(g, "42", "65", "32", "7", "163") + ";" + g.area() + "$x"
	case 2:
		return "\x1b[" + g.area() + "$z"
	case 3:
		return "\x1b[" + g.area() + "${"
	case 4, 5:
		return "\x1b[" + g.area() + ";1;" + g.y() + ";" + g.x() + ";1$v"
	case 6:
		return "\x1b[" + g.area() + pick(g, "", ";0", ";1", ";4", ";5", ";7", ";1;5", ";24", ";27", ";22;7") + "$r"
	}
	return pick(g, "\x1b[0*x", "\x1b[1*x", "\x1b[2*x", "\x1b[1\"q", "\x1b[0\"q") + "\x1b[" + g.area() + pick(g, "", ";0", ";1", ";4", ";5", ";7", ";1;7") + "$t"
}

// report is a question, or what changes its answer. DECRQPSR is not of them: xterm always answers it wrongly, with a tab
// stop in the first column (DEC STD 070, 5-204) and 96 characters in ASCII (5-202).
func (g *generator) report() string {
	return pick(g, "\x1b[6n", "\x1b[?6n", "\x1b[18t", "\x1bP$qr\x1b\\", "\x1bP$qs\x1b\\", "\x1bP$qm\x1b\\", "\x1bP$q\"q\x1b\\",
		"\x1bP$q"+pick(g, " q", "zz")+"\x1b\\", "\x1b["+pick(g, "0", "1", "2")+"*x", "\x1b[5n", "\x1b[?15n", "\x1b["+pick(g, "1", "2", "4", "6")+" q",
		"\x1bP2$t"+pick(g, "3", "3/5", "2/9/12")+"\x1b\\",
		"\x1b[?"+pick(g, "1", "5", "6", "7", "9", "12", "25", "40", "41", "42", "45", "47", "66", "67", "69", "1000", "1002", "1003", "1004", "1005", "1006", "1015", "1047", "1049", "2004")+"$p",
		"\x1b["+pick(g, "2", "4", "20")+"$p", "\x1b[1\"q", "\x1b[4h", "\x1b[?"+pick(g, "9", "66", "67", "1000", "1002", "1003", "1004", "1005", "1006", "1015")+pick(g, "h", "h", "l"))
}

// noise is what a parser has to get right: broken and unknown sequences, strings, controls inside sequences.
func (g *generator) noise() string {
	return pick(g,
		"\x1b[3\n1m", "\x1b[2\x18C", "\x1b[2\x1aC", "\x1b[\x1b[2C", "\x1b[5;5\bH", "\x1b[?99h", "\x1b[99h", "\x1b[1;2;3;4;5y", "\x1b[>1$~",
		"\x1b]2;title\x07", "\x1b]2;title\x1b\\", "\x1b]0;a b\x18", "\x1b]junk\x07", "\x1bPabc\x1b\\", "\x1bP1$zdata\x1b\\", "\x1b_app\x1b\\",
		"\x1b^pm\x1b\\", "\x1bXsos\x1b\\", "\x1b[;;;;m", "\x1b[1;;4m", "\x1b[2 zA", "\x1b%G", "\x1b#Z",
		"\x1b[99999999999999999999C", "\x1b[-1C", "\x1b[1<2C", "\x1b[2!C", "\x1b", "\x1b[", "\x1b[3",
		"\x1b[0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;1m",
		fmt.Sprintf("\x1b[%dm", 10+g.IntN(11)), "\x05", "\x01\x02\x03", "\x1c\x1d\x1e\x1f")
}

// illFormed is no UTF-8: stray bytes and characters cut short. xterm.js leaves them out, and xterm has its own ways with
// long forms, surrogates and what lies beyond U+10FFFF.
func (g *generator) illFormed() string {
	return pick(g, "\xff", "\x80", "\x9b1m", "\xc3", "\xe4", "\xe4\xb8", "\xf0\x9f\x91-", "\xe4\xc3\xa9", "\xf0\x9f\x1b[1m", "\xc3\r")
}

// c1 is 8-bit controls as code points, of those that xterm.js knows; xterm takes none in UTF-8.
func (g *generator) c1() string {
	return pick(g, "\u0084", "\u0085", "\u0088", "\u009b2C", "\u009b3;2H", "\u009d2;t\u009c", "\u0090q\u009c")
}

func (g *generator) plainStyle() string {
	switch g.IntN(6) {
	case 0:
		return "\x1b[m"
	case 1:
		return fmt.Sprintf("\x1b[%dm", pick(g, 30, 40, 90, 100)+g.IntN(8))
	case 2:
		return fmt.Sprintf("\x1b[%d;5;%dm", pick(g, 38, 48), g.IntN(256))
	case 3:
		return fmt.Sprintf("\x1b[%dm", pick(g, 22, 23, 24, 25, 27, 29, 39, 49))
	}
	return fmt.Sprintf("\x1b[%d;%dm", pick(g, 1, 2, 3, 4, 5, 7, 9, 0), pick(g, 1, 2, 3, 4, 5, 7, 9))
}

// oldStyle has the renditions that xterm's erasing and resets know.
func (g *generator) oldStyle() string {
	switch g.IntN(4) {
	case 0:
		return "\x1b[m"
	case 1:
		return fmt.Sprintf("\x1b[%dm", pick(g, 30, 40, 90, 100)+g.IntN(8))
	case 2:
		return fmt.Sprintf("\x1b[%dm", pick(g, 22, 24, 25, 27, 39, 49))
	}
	return fmt.Sprintf("\x1b[%dm", pick(g, 1, 4, 5, 7))
}

func (g *generator) directStyle() string {
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("\x1b[%d;2;%d;%d;%dm", pick(g, 38, 48), g.IntN(256), g.IntN(256), g.IntN(256))
	case 1:
		return fmt.Sprintf("\x1b[%d:2::%d:%d:%dm", pick(g, 38, 48), g.IntN(256), g.IntN(256), g.IntN(256))
	case 2:
		return pick(g, "\x1b[24m", "\x1b[38:5:77m", "\x1b[48:5:200m", "\x1b[7m", "\x1b[27m")
	}
	return g.plainStyle()
}

// extraStyle adds what xterm does not know.
func (g *generator) extraStyle() string {
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("\x1b[58:2::%d:%d:%dm", 1+g.IntN(250), g.IntN(256), g.IntN(256))
	case 1:
		return fmt.Sprintf("\x1b[4:%dm", g.IntN(6))
	case 2:
		return pick(g, "\x1b[53m", "\x1b[55m", "\x1b[59m", "\x1b[58:5:9m", "\x1b[58;5;9m", "\x1b[4m", "\x1b[21m", "\x1b[24m", "\x1b[8m", "\x1b[28m")
	case 3, 4:
		return pick(g, "\x1b]8;;http://a\x1b\\", "\x1b]8;id=x;http://b\x07", "\x1b]8;;\x1b\\")
	}
	return g.directStyle()
}

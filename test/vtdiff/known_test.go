package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reproduction shows a known difference.
type reproduction struct {
	name       string // of the difference
	cols, rows int
	voices     string // who judges: x is xterm, j is xterm.js
	steps      []step
	// place is where the engine stands against another: a cell, or what else of a screen is compared. ours is what the
	// engine has there, which the specification wants.
	place, ours string
}

func written(s string) []step { return []step{{bytes: s}} }

// answers are those to finalQuestions in a screen of 8x3 as nothing has changed it.
const answers = `\x1bP1$r1;3r\x1b\\\x1bP1$r1;8s\x1b\\\x1b[?6;2$y\x1b[1;1R"`

var reproductions = []reproduction{
	{
		"DECSTR and DECALN leave dim, italic and strike-out in xterm",
		8, 3, "x", written("\x1b[2m\x1b[!px"), "cell 0,0", "'x'",
	},
	{
		"a background that DECRC took away comes back in xterm with inverse",
		8, 3, "x", written("\x1b[101m\x1b8\x1b[7;4mg"), "cell 0,0", "'g' inverse underline 1",
	},
	{
		"REP behind something else than a character prints in xterm",
		8, 3, "x", written("x\x1b[1m\x1b[3b"), "cell 1,0", "' '",
	},
	{
		"xterm keeps half of a wide character, or gives it another style",
		8, 3, "x", written("中\x1b[9;4m\bz"), "cell 0,0", "' ' strike underline 1",
	},
	{
		"xterm shifts wide characters it cuts by other columns",
		8, 3, "xj", written("中中中中\x1b[2G\x1b[3P"), "cell 4,0", "spacer",
	},
	{
		"DECSC forgets a pending wrap in xterm.js",
		8, 3, "j", written("abcdefgh\x1b7\x1b8"), "pending wrap", "true",
	},
	{
		"HT behind the right margin goes back to it in xterm",
		17, 3, "x", written("\x1b[?69h\x1b[1;2s\x1b[10a\t"), "cursor", "16,0",
	},
	{
		"insert mode over the left margin inserts in xterm by the run it reads",
		32, 3, "x", written("\x1b[4h\x1b[?69hw-x5\x1b[4;32767s-xqi"), "cell 4,0", "'5'",
	},
	{
		"RIS leaves the alternate screen in xterm",
		8, 3, "x", written("\x1b[?47hab\x1bcx\x1b[?47h"), "cell 0,0", "' '",
	},
	{
		"DECFRA and DECERA keep colours in xterm where the pen has none",
		8, 3, "x", written("\x1b[105m\x1b[2J\x1b[m\x1b[1;1;1;3$z"), "cell 0,0", "' '",
	},
	{
		"DECERA has the pen's renditions in xterm",
		8, 3, "x", written("\x1b[1m\x1b[1;1;2;2$z"), "cell 0,0", "' '",
	},
	{
		"DECCRA of blanks makes colours over 15 in xterm",
		30, 9, "x", written("\x1b[5;1H\x1b[40m \x1b[2^\x1b[1;1;9;29;1;6;9;1$v"), "cell 0,6", "' ' bg 0",
	},
	{
		"erased cells keep the pen's foreground in xterm, which DECCARA and DECRARA then show",
		8, 3, "x", written("\x1b[35m\x1b[J\x1b[1;1;1;1;7$r"), "cell 0,0", "' ' inverse",
	},
	{
		"ESC l and ESC m lock memory in xterm",
		8, 3, "x", written("\x1b[2H\x1bl\x1b[H"), "replies", `"` + answers,
	},
	{
		"DECRC leaves the underline's colour and the link in xterm.js",
		8, 3, "j", written("\x1b]8;;http://a\x1b\\\x1b[u\x1b[4m-"), "cell 0,0", `'-' with marks="" overline=false underline= link= id= underline 1`,
	},
	{
		"CBT with a wrap pending counts one column more in xterm.js",
		4, 3, "j", written("oxxé\x1b[Z"), "cursor", "0,0",
	},
	{
		"DECREQTPARM is answered",
		8, 3, "x", written("\x1b[x"), "replies", `"\x1b[2;1;1;128;128;1;0x` + answers,
	},
	{
		"DECID and DA say who answers",
		8, 3, "x", written("\x1bZ"), "replies", `"\x1b[?64;6;9;17;21;22;28;52c` + answers,
	},
	{
		"a mark on a letter makes one code point in xterm",
		8, 3, "x", written("A\u0301"), "cell 0,0", "'A'",
	},
	{
		"a mark behind a moved cursor gets a cell of its own in xterm once something has scrolled",
		28, 3, "x", written("\x1b[3Ha\nq\x1b[B\u0301x"), "cell 2,2", "'x'",
	},
	{
		"SU of all lines between the margins clears the whole screen in xterm",
		8, 6, "x", written("\x1b[2;4ra\x1b[12S"), "cell 0,0", "'a'",
	},
	{
		"the saved cursor stays in its row in xterm where a smaller alternate screen loses lines at the top",
		8, 9, "xj",
		[]step{{bytes: "\x1b[?1049h\x1b[5;1H\x1b7\x1b[9;1H"}, {cols: 8, rows: 5}, {bytes: "\x1b8"}},
		"cursor", "0,0",
	},
	{
		"a rectangle's omitted corner is the margins' in xterm, and in origin mode counted from them again",
		5, 6, "x", written("\x1b[?6h\x1b[?69h\x1b[2;4s\x1b[;6fx  Gq-~q\x1b[4;0;;3${"), "cell 1,3", "' '",
	},
	{
		"DECRC in origin mode may leave the margins in xterm",
		8, 3, "xj", written("\x1b[?6h\x1b7\x1b[2;3r\x1b[u"), "cursor", "0,1",
	},
	{
		"DECSTR takes the protection of all cells away in xterm",
		8, 3, "x", written("\x1b[1\"qab\x1b[!p\x1b[?2J"), "cell 0,0", "'a'",
	},
	{
		"a selective erase of protected cells keeps a pending wrap in xterm",
		8, 3, "x", written("\x1b[1\"qabcdefgh\x1b[?2Ki"), "cell 7,0", "'i'",
	},
	{
		"DECRARA's 0 reverses nothing in xterm",
		8, 3, "x", written("\x1b[1;1;1;2;0$t"), "cell 0,0", "' ' bold blink inverse underline 1",
	},
	{
		"the British set has all of Latin-1 in xterm while DECNRCM is reset",
		8, 3, "x", written("\x1b(Ad"), "cell 0,0", "'d'",
	},
	{
		"the blank of the line drawing set costs the character behind it in xterm",
		8, 3, "x", written("\x1b(0_xxxxxxxx"), "cell 0,1", "'│'",
	},
	{
		"REP behind a single shift takes its character from another set in xterm",
		8, 3, "x", written("\x1b*0\x1bNx\x1b[2b"), "cell 1,0", "'│'",
	},
	{
		"what XTSAVE saved outlasts RIS in xterm",
		8, 3, "x", written("\x1b[?7l\x1b[?7s\x1bc\x1b[?7rabcdefghi"), "cell 7,0", "'h'",
	},
	{
		"the titles that XTWINOPS pushed outlast RIS in xterm",
		8, 3, "x", written("\x1b[22;2t\x1b]2;a\a\x1bc\x1b[23;2t"), "title", `"a"`,
	},
	{
		"DECCARA without attributes does nothing in xterm",
		8, 3, "x", written("\x1b[1ma\x1b[1;1;1;1$r"), "cell 0,0", "'a'",
	},
	{
		"the renditions that XTPUSHSGR pushed outlast RIS in xterm",
		8, 3, "x", written("\x1b[1m\x1b[#{\x1bc\x1b[#}x"), "cell 0,0", "'x'",
	},
	{
		"ED from the first cell ends SPA's protection in xterm",
		8, 3, "x", written("\x1bV\x1b[2Jab\x1b[1K"), "cell 0,0", "'a'",
	},
}

func (r *reproduction) session() *session {
	p := profile{xterm: strings.Contains(r.voices, "x"), xtermjs: strings.Contains(r.voices, "j")}
	return &session{profile: p, cols: r.cols, rows: r.rows, steps: r.steps}
}

// at tells what a screen has in a place, as difference does.
func (s *screen) at(place string, as aspects) string {
	var x, y int
	if n, _ := fmt.Sscanf(place, "cell %d,%d", &x, &y); n == 2 {
		return s.rows[y][x].visible(as).String()
	}
	return map[string]string{
		"cursor": fmt.Sprintf("%d,%d", s.x, s.y), "pending wrap": fmt.Sprint(s.pending),
		"replies": fmt.Sprintf("%q", s.replies), "title": fmt.Sprintf("%q", s.title),
	}[place]
}

// TestKnownDifferencesAreDecided: in each difference that is listed the engine does what its argument says.
func TestKnownDifferencesAreDecided(t *testing.T) {
	shown := map[string]bool{}
	for _, r := range reproductions {
		as := oursXterm
		if r.voices == "j" {
			as = oursXtermjs
		}
		ours := runOurs(r.session())
		require.Equal(t, r.ours, ours.at(r.place, as), r.name)
		shown[r.name] = true
	}
	for _, k := range knownDifferences {
		require.True(t, shown[k.name], "nothing shows: %s", k.name)
	}
	require.Len(t, reproductions, len(knownDifferences))
}

// TestKnownDifferencesAreThere: the others do something else there, and the difference is told by its own entry.
func TestKnownDifferencesAreThere(t *testing.T) {
	j := voices(t)
	for _, r := range reproductions {
		s := r.session()
		o, err := j.try(s)
		require.NoError(t, err)
		require.Contains(t, o.detail, r.place+": "+r.ours+" or ", r.name)
		require.Equal(t, r.name, excuse(s, o), o.detail)
	}
}

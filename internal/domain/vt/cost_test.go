package vt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// perByte is what a byte of input may cost besides the screen: cells, rows and bytes touched.
const perByte = 400

// screenCost is a screen's cells and rows.
func screenCost(o Options) uint64 { return uint64(o.Cols*o.Rows + o.Cols + o.Rows) }

// screensPerSequence is how often a sequence may touch each cell: REP writes a screen, of which every line moves up, is
// packed into the history, and blanked.
const screensPerSequence = 6

// mostWork is how much an input of n bytes may cost: each byte of its own, and every sequence (they have two bytes and
// more) some screens.
func mostWork(o Options, n int) uint64 {
	return uint64(n)*perByte + uint64(n+1)/2*screensPerSequence*screenCost(o)
}

// TestNoSequenceCostsMoreThanScreens: whatever count a sequence has, it costs a few screens and its own bytes.
func TestNoSequenceCostsMoreThanScreens(t *testing.T) {
	o := Options{Cols: 50, Rows: 12, HistoryLines: 1000}
	fill := strings.Repeat(strings.Repeat("ab宽e\u0301", 10)+"\r\n", 15) + "\x1b[44m"
	const huge = "99999"
	for _, setup := range []string{"", "\x1b[4h", "\x1b[?69h\x1b[3;40s\x1b[2;10r\x1b[5;10H", "\x1b[?6h", "\x1b[?1049h", "\x1b[3g", "\x1b[1\"q" + fill} {
		for final := byte(0x40); final < 0x7f; final++ {
			for _, inter := range []string{"", " ", "!", "#", "$", "'", "*", "\""} {
				tm := New(o)
				tm.Write([]byte(fill + setup + "x"))
				in := "\x1b[" + huge + inter + string(rune(final))
				if inter == "$" || inter == "#" {
					in = "\x1b[1;1;" + huge + ";" + huge + ";1;2;2" + inter + string(rune(final))
				}
				if inter == "$" && final == 'x' {
					in = "\x1b[88;1;1;" + huge + ";" + huge + "$x"
				}
				before := tm.work
				tm.Write([]byte(in))
				require.LessOrEqual(t, tm.work-before, screensPerSequence*screenCost(o)+uint64(len(in))*perByte, "%q behind %q", in, setup)
			}
		}
	}
}

// hostile are inputs that want much work for few bytes. Each is repeated.
var hostile = map[string]string{
	"REP":                    "x\x1b[65535b",
	"REP of a wide one":      "宽\x1b[65535b",
	"REP inserting":          "\x1b[4hx\x1b[65535b",
	"ECH":                    "\x1b[H\x1b[65535X",
	"IL and DL":              "\x1b[H\x1b[65535L\x1b[65535M",
	"SU and SD":              "\x1b[65535S\x1b[65535T",
	"ICH and DCH":            "\x1b[65535@\x1b[65535P",
	"tabs":                   "\r\x1b[3g" + strings.Repeat("\t", 50) + "\x1b[65535I\x1b[65535Z",
	"clears":                 "\x1b[2J\x1b[J\x1b[1J\x1b#8\x1bc",
	"clears with colour":     "\x1b[44m\x1b[2J\x1b[2J\x1b[T\x1b[S",
	"modes that clear":       "\x1b[?1049;1049;1047;47;1049;1047;3h\x1b[?1049;1047;1049l",
	"DECCRA":                 "\x1b[1;1;;;1;1;2;1$v\x1b[1;1;;;1;2;1;1$v",
	"DECFRA and DECERA":      "\x1b[88;;;;$x\x1b[;;;$z\x1b[;;;${",
	"DECCARA and DECRARA":    "\x1b[;;;;1;4;5;7$r\x1b[;;;;1;4;5;7$t",
	"reports of areas":       "\x1b[;;;#|",
	"columns":                "\x1b[H\x1b[65535'}\x1b[65535'~\x1b[65535 @\x1b[65535 A",
	"marks":                  "e" + strings.Repeat("\u0301", 200),
	"marks of every kind":    "e\u0301\u0302\u0303\u0304\u0305\u0306",
	"joiners":                "👩" + strings.Repeat("\u200d👩", 40),
	"line feeds":             "\n\n\n\n\n\n\n\n",
	"wide lines":             strings.Repeat("宽", 60) + "\r\n",
	"bells":                  "\a\a\a\a\a\a",
	"titles":                 "\x1b]2;a\x07\x1b]2;b\x07\x1b[22t\x1b[23t",
	"notifications":          "\x1b]9;x\x07\x1b]777;notify;a;b\x07\x1b]99;i=1:d=0;x\x07",
	"questions":              "\x1b[c\x1b[6n\x1bP$qm\x1b\\\x1bP+q544e;544e\x1b\\\x1b]10;?\x07",
	"colours":                "\x1b]4;0;?;1;?;2;?;3;#123\x07\x1b[#P\x1b[#Q\x1b]104\x07",
	"statuses":               "\x1b]7501;id=a/b:state=working\x07\x1b]7501;id=c:state=clear\x07",
	"underline colours":      "",
	"links":                  "",
	"a string":               "\x1b]2;" + strings.Repeat("x", 3000),
	"strings cut short":      "\x1b]52;c;YWJj\x18\x1bPq\x18\x1b_x\x1b",
	"saved cursors":          "\x1b7\x1b8\x1b[?1048h\x1b[?1048l\x1b[s\x1b[u",
	"keyboard stack":         "\x1b[>1u\x1b[<99999u\x1b[=1;2u",
	"saved modes":            "\x1b[?1;2;3;4;5;6;7s\x1b[?1;2;3;4;5;6;7r",
	"pen stack":              "\x1b[#{\x1b[#{\x1b[#}\x1b[#}",
	"parameters":             "\x1b[" + strings.Repeat("1;", 500) + "m",
	"controls in a sequence": "\x1b[1" + strings.Repeat("\n", 100) + "m",
	"ill-formed UTF-8":       strings.Repeat("\xf0\x9f", 50),
	"joined lines":           strings.Repeat("x", 500),
	"resets":                 "\x1bc\x1b[!p",
}

// repeats is how often: those that fill tables until each has been full more than once.
func repeats(name string) int {
	switch name {
	case "underline colours", "links":
		return 20_000
	case "marks of every kind":
		return 40_000
	}
	return 200
}

func hostileInput(name string, i int) string {
	switch name {
	case "underline colours":
		return fmt.Sprintf("\x1b[58;2;%d;%d;%dmx", i>>16&255, i>>8&255, i&255)
	case "links":
		return fmt.Sprintf("\x1b]8;;http://%d/%0400d\x07x", i, i)
	case "marks of every kind":
		return string([]rune{rune('a' + i%26), rune(0x300 + i/26%70), rune(0x300 + i/1820%70), rune(0x300 + i/127400%70)})
	}
	return hostile[name]
}

// TestHostileInputsAreLinear: however often they come.
func TestHostileInputsAreLinear(t *testing.T) {
	o := Options{Cols: 60, Rows: 20, HistoryLines: 200}
	for name := range hostile {
		t.Run(name, func(t *testing.T) {
			tm := New(o)
			n := 0
			for i := range repeats(name) {
				in := hostileInput(name, i)
				tm.Write([]byte(in))
				n += len(in)
			}
			require.LessOrEqual(t, tm.work, mostWork(o, n), "%d bytes, %d each", n, tm.work/uint64(n))
			checkInvariants(t, tm)
		})
	}
}

// TestRowsFullOfLinksAreCheap: copies of long links cost nothing to type, and a line of them is packed no longer than
// fits.
func TestRowsFullOfLinksAreCheap(t *testing.T) {
	o := Options{Cols: 1000, Rows: 50, HistoryLines: 1000}
	tm := New(o)
	uri := strings.Repeat("u", 4000)
	tm.Write([]byte("\x1b]8;;a" + uri + "\x07x\x1b]8;;b" + uri + "\x07y\x1b]8;;\x07"))
	for w := 2; w < o.Cols; w *= 2 {
		tm.Write(fmt.Appendf(nil, "\x1b[1;1;1;%d;1;1;%d$v", w, w+1))
	}
	for range 20 {
		before := tm.work
		in := "\x1b[1;1;1;1000;1;2;1$v\x1b[50H\n"
		tm.Write([]byte(in))
		require.LessOrEqual(t, tm.work-before, mostWork(o, len(in)))
	}
	tm.Write([]byte("\x1b[50H\n"))
	require.LessOrEqual(t, cap(tm.hist.packed), 2*chunkBytes, "nor is a longer buffer kept")
}

// TestAnyInputIsLinear: so is everything that the grammar of sequences makes.
func TestAnyInputIsLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions(t)
		tm := New(o)
		n := 0
		for range rapid.IntRange(1, 20).Draw(t, "inputs") {
			in := strings.Repeat(anyInput(t), rapid.SampledFrom([]int{1, 1, 5, 100}).Draw(t, "times"))
			tm.Write([]byte(in))
			n += len(in)
		}
		require.LessOrEqual(t, tm.work, mostWork(o, n))
	})
}

// TestTextCostsWhatItIsLong: text costs its cells and the lines that it scrolls away, whatever the screen's size.
func TestTextCostsWhatItIsLong(t *testing.T) {
	for name, line := range map[string]string{
		"ASCII": strings.Repeat("x", 1000), "wide": strings.Repeat("宽", 500), "narrow": strings.Repeat("é", 1000),
		"marks": strings.Repeat("e\u0301", 1000), "emoji": strings.Repeat("👍🏽", 500), "coloured": strings.Repeat("\x1b[31mx", 1000),
	} {
		tm := New(Options{Cols: 1000, Rows: 500, HistoryLines: 100})
		n := 0
		for range 600 {
			tm.Write([]byte(line + "\r\n"))
			n += len(line) + 2
		}
		require.LessOrEqual(t, tm.work, uint64(n)*20, name)
	}
}

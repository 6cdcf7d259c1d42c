package vt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScrollConformance(t *testing.T) {
	up, down := "ghijkl|mnopqr|stuvwx|yz0123|......", "......|abcdef|ghijkl|mnopqr|stuvwx"
	rowsUp, rowsDown := "abcdef|mnopqr|stuvwx|......|yz0123", "abcdef|......|ghijkl|mnopqr|yz0123"
	bothUp, bothDown := "abcdef|gnopql|mtuvwr|s....x|yz0123", "abcdef|g....l|mhijkr|snopqx|yz0123"
	cases := []conformCase{
		{"SU", "\x1b[S", up, "1;1"},
		{"SU, all", "\x1b[99S", "......|......|......|......|......", ""},
		{"SU of rows", rowsMargin + "\x1b[1;1H\x1b[S", rowsUp, "1;1"},
		{"SU of both", bothMargins + "\x1b[5;6H\x1b[S", bothUp, "5;6"},
		{"SU of columns", columnsMargin + "\x1b[S", "ahijkf|gnopql|mtuvwr|sz012x|y....3", ""},
		{"SD", "\x1b[T", down, "1;1"},
		{"SD, the other final", "\x1b[^", down, "1;1"},
		{"SD of rows", rowsMargin + "\x1b[T", rowsDown, ""},
		{"SD of both", bothMargins + "\x1b[T", bothDown, ""},
		{"mouse highlighting is no SD", "\x1b[1;1;1;1;1T", "", ""},
		{"RI", "\x1b[3;3H\x1bM", "", "2;3"},
		{"RI scrolls", "\x1b[1;3H\x1bM", down, "1;3"},
		{"RI scrolls at the margin", rowsMargin + "\x1b[2;3H\x1bM", rowsDown, "2;3"},
		{"RI between columns", bothMargins + "\x1b[2;3H\x1bM", bothDown, "2;3"},
		{"RI outside of the columns", bothMargins + "\x1b[2;6H\x1bM", "", "2;6"},
		{"RI above the margin", rowsMargin + "\x1b[1;3H\x1bM", "", "1;3"},
		{"DECSTBM, defaults", rowsMargin + "\x1b[r\x1b[5;1H\n", up, "5;1"},
		{"DECSTBM goes home", "\x1b[3;3H" + rowsMargin, "", "1;1"},
		{"DECSTBM goes home in origin mode", "\x1b[?6h\x1b[3;3H" + rowsMargin, "", "2;1"},
		{"DECSTBM, one row", rowsMargin + "\x1b[3;3r\x1b[4;1H\n", rowsUp, "4;1"},
		{"DECSTBM upside down", rowsMargin + "\x1b[4;2r\x1b[4;1H\n", rowsUp, "4;1"},
		{"DECSTBM, zero is the end", "\x1b[2;0r\x1b[5;1H\n", "abcdef|mnopqr|stuvwx|yz0123|......", "5;1"},
		{"DECSTBM, too large", "\x1b[2;99r\x1b[5;1H\n", "abcdef|mnopqr|stuvwx|yz0123|......", "5;1"},
		{"DECSLRM needs its mode", "\x1b[2;5s\x1b[2;3H\x1b[P", "abcdef|ghjkl.|mnopqr|stuvwx|yz0123", ""},
		{"DECSLRM goes home", "\x1b[?69h\x1b[3;3H\x1b[2;5s", "", "1;1"},
		{"DECLRMM off resets the margins", columnsMargin + "\x1b[?69l\x1b[2;3H\x1b[P", "abcdef|ghjkl.|mnopqr|stuvwx|yz0123", ""},
	}
	for name, lf := range map[string]string{"LF": "\n", "VT": "\v", "FF": "\f", "IND": "\x1bD", "IND, C1": "\u0084"} {
		cases = append(cases,
			conformCase{name, "\x1b[2;3H" + lf, "", "3;3"},
			conformCase{name + " scrolls", "\x1b[5;3H" + lf, up, "5;3"},
			conformCase{name + " scrolls at the margin", rowsMargin + "\x1b[4;3H" + lf, rowsUp, "4;3"},
			conformCase{name + " between columns", bothMargins + "\x1b[4;3H" + lf, bothUp, "4;3"},
			conformCase{name + " outside of the columns", bothMargins + "\x1b[4;6H" + lf, "", "4;6"},
			conformCase{name + " below the margin", rowsMargin + "\x1b[5;3H" + lf, "", "5;3"},
			conformCase{name + " with a wrap pending", "\x1b[1;6Hf" + lf, "", "2;6"},
		)
	}
	for name, nel := range map[string]string{"NEL": "\x1bE", "NEL, C1": "\u0085", "LF in LNM": "\x1b[20h\n"} {
		cases = append(cases,
			conformCase{name, "\x1b[2;3H" + nel, "", "3;1"},
			conformCase{name + " scrolls", "\x1b[5;3H" + nel, up, "5;1"},
			conformCase{name + " goes to the margin", columnsMargin + "\x1b[2;3H" + nel, "", "3;2"},
		)
	}
	checkConformance(t, cases)
}

func TestWrapConformance(t *testing.T) {
	checkConformance(t, []conformCase{
		{"the last column waits", "\x1b[1;6HX", "abcdeX|ghijkl|mnopqr|stuvwx|yz0123", "1;6p"},
		{"the next character wraps", "\x1b[1;6HXY", "abcdeX|Yhijkl|mnopqr|stuvwx|yz0123", "2;2"},
		{"at the last row it scrolls", "\x1b[5;6HXY", "ghijkl|mnopqr|stuvwx|yz012X|Y.....", "5;2"},
		{"without DECAWM the column is written again", "\x1b[?7l\x1b[1;5HXYZ", "abcdXZ|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"at the margin", columnsMargin + "\x1b[1;5HXY", "abcdXf|gYijkl|mnopqr|stuvwx|yz0123", "2;3"},
		{"right of the margin it is the edge's", columnsMargin + "\x1b[1;6HXY", "abcdeX|gYijkl|mnopqr|stuvwx|yz0123", "2;3"},
		{"without DECAWM at the margin", columnsMargin + "\x1b[?7l\x1b[1;5HXY", "abcdYf|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"CUP cancels it", "\x1b[1;6HX\x1b[1;6HY", "abcdeY|ghijkl|mnopqr|stuvwx|yz0123", "1;6p"},
		{"CR cancels it", "\x1b[1;6HX\rY", "YbcdeX|ghijkl|mnopqr|stuvwx|yz0123", "1;2"},
		{"SGR does not", "\x1b[1;6HX\x1b[1mY", "abcdeX|Yhijkl|mnopqr|stuvwx|yz0123", "2;2"},
		{"nor do modes", "\x1b[1;6HX\x1b[?25l\x1b[?25h\x1b[4lY", "abcdeX|Yhijkl|mnopqr|stuvwx|yz0123", "2;2"},
		{"ECH cancels it", "\x1b[1;6HX\x1b[XY", "abcdeY|ghijkl|mnopqr|stuvwx|yz0123", "1;6p"},
		{"DCH cancels it", "\x1b[1;6HX\x1b[PY", "abcdeY|ghijkl|mnopqr|stuvwx|yz0123", "1;6p"},
		{"a wide character needs two columns", "\x1b[1;6H宽", "abcde.|宽ijkl|mnopqr|stuvwx|yz0123", "2;3"},
		{"a half that is overwritten goes whole", "\x1b[1;2H宽\x1b[1;3Hx", "a.xdef|ghijkl|mnopqr|stuvwx|yz0123", ""},
	})
}

func TestTabConformance(t *testing.T) {
	at := func(name, in, cursor string) {
		_, s := run(t, 40, 3, in)
		require.Equal(t, cursor, place(s.Cursor), name)
	}
	at("HT", "\t", "1;9")
	at("HT from between", "abc\t", "1;9")
	at("HT from a stop", "\t\t", "1;17")
	at("HT at the end", strings.Repeat("\t", 9), "1;40")
	at("HT stops at the margin", "\x1b[?69h\x1b[3;12s\x1b[1;9H\t", "1;12")
	at("CHT", "\x1b[2I", "1;17")
	at("CHT, too many", "\x1b[99I", "1;40")
	at("CBT", "\x1b[1;20H\x1b[Z", "1;17")
	at("CBT, some", "\x1b[1;20H\x1b[2Z", "1;9")
	at("CBT at the edge", "\x1b[1;20H\x1b[99Z", "1;1")
	at("CBT ignores the margin", "\x1b[?69h\x1b[12;30s\x1b[1;14H\x1b[Z", "1;9")
	at("HTS", "\x1b[1;5H\x1bH\r\t", "1;5")
	at("HTS, C1", "\x1b[1;5H\u0088\r\t", "1;5")
	at("TBC", "\x1b[1;9H\x1b[g\r\t", "1;17")
	at("TBC, no stop there", "\x1b[1;8H\x1b[g\r\t", "1;9")
	at("TBC 3", "\x1b[3g\t", "1;40")
	at("TBC of another number", "\x1b[1;9H\x1b[2g\r\t", "1;9")
	at("DECST8C", "\x1b[3g\x1b[?5W\t", "1;9")
	at("RIS", "\x1b[3g\x1bc\t", "1;9")
	at("DECSTR leaves the stops", "\x1b[3g\x1b[!p\t", "1;40")
}

func TestResetConformance(t *testing.T) {
	checkConformance(t, []conformCase{
		{"RIS", bothMargins + "\x1b[?6h\x1b[?7l\x1b[4h\x1b(0\x1b[3;3H\x1bcabcdefg", "abcdef|g.....|......|......|......", "2;2"},
		{"RIS from the alternate screen", "\x1b[?1049h\x1bcx", "x.....|......|......|......|......", "1;2"},
		{"DECSTR leaves the cells and the cursor", "\x1b[3;3H\x1b[!p", "", "3;3"},
		{"DECSTR resets the margins", bothMargins + "\x1b[!p\x1b[5;1H\n", "ghijkl|mnopqr|stuvwx|yz0123|......", "5;1"},
		{"DECSTR resets DECLRMM", columnsMargin + "\x1b[!p\x1b[2;5s\x1b[2;3H\x1b[P", "abcdef|ghjkl.|mnopqr|stuvwx|yz0123", ""},
		{"DECSTR resets IRM", "\x1b[4h\x1b[!pX", "Xbcdef|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"DECSTR resets DECOM", rowsMargin + "\x1b[?6h\x1b[!p\x1b[1;1H", "", "1;1"},
		{"DECSTR sets DECAWM", "\x1b[?7l\x1b[!p\x1b[1;6HXY", "abcdeX|Yhijkl|mnopqr|stuvwx|yz0123", ""},
		{"DECSTR resets the charset", "\x1b(0\x1b[!pq", "qbcdef|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"DECSTR resets DECSCA", "\x1b[1\"q\x1b[!pX\x1b[?2K", "......|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"DECSTR resets reverse wrap", "\x1b[?45h\x1b[!p\x1b[2;1H\b", "", "2;1"},
		{"DECSTR resets the saved cursor", "\x1b[3;3H\x1b7\x1b[!p\x1b8", "", "1;1"},
	})
}

func TestCharsetConformance(t *testing.T) {
	checkConformance(t, []conformCase{
		{"line drawing as G0", "\x1b(0lqk\x1b(Bl", "┌─┐lef|ghijkl|mnopqr|stuvwx|yz0123", "1;5"},
		{"as G1", "\x1b)0l\x0el\x0fl", "l┌ldef|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"as G2 for one", "\x1b*0\x1bNll", "┌lcdef|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"as G3 for one", "\x1b+0\x1bOll", "┌lcdef|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"as G2, locked", "\x1b*0\x1bnll\x0fl", "┌┌ldef|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"as G3, locked", "\x1b+0\x1boll\x0fl", "┌┌ldef|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"single shift, C1", "\x1b*0\u008ell", "┌lcdef|ghijkl|mnopqr|stuvwx|yz0123", ""},
		{"other characters stay", "\x1b(0AÄ宽", "AÄ宽ef|ghijkl|mnopqr|stuvwx|yz0123", ""},
	})
}

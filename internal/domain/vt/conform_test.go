package vt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// grid fills the 6x5 screen that the conformance cases start with.
const grid = "abcdef\r\nghijkl\r\nmnopqr\r\nstuvwx\r\nyz0123\x1b[H"

const (
	rowsMargin    = "\x1b[2;4r"          // rows 2 to 4
	columnsMargin = "\x1b[?69h\x1b[2;5s" // columns 2 to 5
	bothMargins   = "\x1b[2;4r" + "\x1b[?69h\x1b[2;5s"
)

// conformCase is behaviour that DEC STD 070, ECMA-48 or xterm's control sequences say, with the sequence as its name.
type conformCase struct {
	name, in string
	// rows are joined by bars, a dot is a blank; "" is the grid as it was.
	rows string
	// cursor is its row and column from 1 on, and "p" when a wrap is pending; "" is not looked at.
	cursor string
}

func checkConformance(t *testing.T, cases []conformCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tm, s := run(t, 6, 5, grid+c.in)
			want := c.rows
			if want == "" {
				want = "abcdef|ghijkl|mnopqr|stuvwx|yz0123"
			}
			require.Equal(t, want, gridText(tm))
			if c.cursor != "" {
				require.Equal(t, c.cursor, place(s.Cursor))
			}
			checkInvariants(t, tm)
		})
	}
}

// gridText is the screen as a case has it.
func gridText(tm *Terminal) string {
	var rows []string
	for y := range tm.nrows {
		row := ""
		for _, c := range tm.Row(y).Cells() {
			if c.IsBlank() {
				row += "."
			}
			row += strings.TrimSpace(string(tm.AppendCell(nil, c)))
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, "|")
}

func place(c Cursor) string {
	s := fmt.Sprintf("%d;%d", c.Row+1, c.Col+1)
	if c.Pending {
		s += "p"
	}
	return s
}

func TestCursorConformance(t *testing.T) {
	checkConformance(t, []conformCase{
		{"CUP", "\x1b[3;4H", "", "3;4"},
		{"CUP, defaults", "\x1b[3;4H\x1b[H", "", "1;1"},
		{"CUP, zeros", "\x1b[3;4H\x1b[0;0H", "", "1;1"},
		{"CUP, row alone", "\x1b[3H", "", "3;1"},
		{"CUP, column alone", "\x1b[;4H", "", "1;4"},
		{"CUP, too large", "\x1b[99;99H", "", "5;6"},
		{"CUP ignores the margins", bothMargins + "\x1b[1;1H", "", "1;1"},
		{"CUP in origin mode", bothMargins + "\x1b[?6h\x1b[1;1H", "", "2;2"},
		{"CUP in origin mode, too large", bothMargins + "\x1b[?6h\x1b[9;9H", "", "4;5"},
		{"HVP", "\x1b[3;4f", "", "3;4"},
		{"CUU", "\x1b[4;3H\x1b[2A", "", "2;3"},
		{"CUU, zero is one", "\x1b[4;3H\x1b[0A", "", "3;3"},
		{"CUU stops at the top", "\x1b[4;3H\x1b[9A", "", "1;3"},
		{"CUU stops at the margin", rowsMargin + "\x1b[4;3H\x1b[9A", "", "2;3"},
		{"CUU from above the margin", rowsMargin + "\x1b[1;3H\x1b[9A", "", "1;3"},
		{"CUU from below the margins", rowsMargin + "\x1b[5;3H\x1b[9A", "", "2;3"},
		{"CUD", "\x1b[2;3H\x1b[2B", "", "4;3"},
		{"CUD stops at the bottom", "\x1b[2;3H\x1b[9B", "", "5;3"},
		{"CUD stops at the margin", rowsMargin + "\x1b[2;3H\x1b[9B", "", "4;3"},
		{"CUD from below the margin", rowsMargin + "\x1b[5;3H\x1b[9B", "", "5;3"},
		{"CUF", "\x1b[2;2H\x1b[2C", "", "2;4"},
		{"CUF stops at the edge", "\x1b[2;2H\x1b[9C", "", "2;6"},
		{"CUF stops at the margin", columnsMargin + "\x1b[2;2H\x1b[9C", "", "2;5"},
		{"CUF from right of the margin", columnsMargin + "\x1b[2;6H\x1b[9C", "", "2;6"},
		{"CUF sets no wrap", "\x1b[1;6H\x1b[C", "", "1;6"},
		{"CUB", "\x1b[2;5H\x1b[2D", "", "2;3"},
		{"CUB stops at the edge", "\x1b[2;5H\x1b[9D", "", "2;1"},
		{"CUB stops at the margin", columnsMargin + "\x1b[2;5H\x1b[9D", "", "2;2"},
		{"CUB from left of the margin", columnsMargin + "\x1b[2;1H\x1b[9D", "", "2;1"},
		{"CUB with a wrap pending", "\x1b[1;6Hf\x1b[D", "", "1;5"},
		{"CNL", "\x1b[2;3H\x1b[2E", "", "4;1"},
		{"CNL stops at the margin", rowsMargin + "\x1b[3;3H\x1b[9E", "", "4;1"},
		{"CNL goes to the left margin", columnsMargin + "\x1b[2;4H\x1b[E", "", "3;2"},
		{"CPL", "\x1b[4;3H\x1b[2F", "", "2;1"},
		{"CPL stops at the margin", rowsMargin + "\x1b[3;3H\x1b[9F", "", "2;1"},
		{"CHA", "\x1b[2;3H\x1b[5G", "", "2;5"},
		{"CHA, default", "\x1b[2;3H\x1b[G", "", "2;1"},
		{"CHA, too large", "\x1b[2;3H\x1b[99G", "", "2;6"},
		{"CHA in origin mode", bothMargins + "\x1b[?6h\x1b[2;2H\x1b[G", "", "3;2"},
		{"HPA", "\x1b[2;3H\x1b[5`", "", "2;5"},
		{"HPR", "\x1b[2;3H\x1b[2a", "", "2;5"},
		{"HPR ignores the margin", columnsMargin + "\x1b[2;3H\x1b[9a", "", "2;6"},
		{"VPA", "\x1b[2;3H\x1b[4d", "", "4;3"},
		{"VPA, too large", "\x1b[2;3H\x1b[99d", "", "5;3"},
		{"VPR", "\x1b[2;3H\x1b[2e", "", "4;3"},
		{"VPR ignores the margin", rowsMargin + "\x1b[2;3H\x1b[9e", "", "5;3"},
		{"CR", "\x1b[2;4H\r", "", "2;1"},
		{"CR to the margin", columnsMargin + "\x1b[2;4H\r", "", "2;2"},
		{"CR from left of the margin", columnsMargin + "\x1b[2;1H\r", "", "2;1"},
		{"CR in origin mode", columnsMargin + "\x1b[?6h\x1b[?6l\x1b[2;1H\r", "", "2;1"},
		{"BS", "\x1b[2;4H\b", "", "2;3"},
		{"BS stops at the edge", "\x1b[2;1H\b", "", "2;1"},
		{"BS stops at the margin", columnsMargin + "\x1b[2;2H\b", "", "2;2"},
		{"BS left of the margin", columnsMargin + "\x1b[2;1H\b", "", "2;1"},
		{"BS with a wrap pending", "\x1b[1;6Hf\b", "", "1;5"},
		{"reverse wrap needs DECAWM", "\x1b[?45h\x1b[?7l\x1b[2;1H\b", "", "2;1"},
		{"reverse wrap", "\x1b[?45h\x1b[2;1H\b", "", "1;6"},
		{"reverse wrap with a wrap pending", "\x1b[?45h\x1b[1;6Hf\b", "", "1;6"},
		{"DECTCEM hides", "\x1b[?25l", "", "1;1"},
	})
}

func TestSavedCursorConformance(t *testing.T) {
	for _, pair := range [][2]string{{"\x1b7", "\x1b8"}, {"\x1b[s", "\x1b[u"}, {"\x1b[?1048h", "\x1b[?1048l"}} {
		save, restore := pair[0], pair[1]
		t.Run(strings.TrimPrefix(save, "\x1b"), func(t *testing.T) {
			checkConformance(t, []conformCase{
				{"the place", "\x1b[3;4H" + save + "\x1b[H" + restore, "", "3;4"},
				{"home when none was saved", "\x1b[3;4H" + restore, "", "1;1"},
				{"a pending wrap", "\x1b[1;6Hf" + save + "\x1b[5;1H" + restore, "", "1;6p"},
				{"origin mode", rowsMargin + "\x1b[?6h" + save + "\x1b[?6l" + restore + "\x1b[H", "", "2;1"},
				{"origin mode that was off", rowsMargin + save + "\x1b[?6h" + restore + "\x1b[H", "", "1;1"},
				{"charsets", "\x1b(0" + save + "\x1b(B" + restore + "q", "─bcdef|ghijkl|mnopqr|stuvwx|yz0123", ""},
				{"not insert mode", save + "\x1b[4h" + restore + "X", "Xabcde|ghijkl|mnopqr|stuvwx|yz0123", ""},
				{"not reverse wrap", "\x1b[2;1H" + save + "\x1b[?45h" + restore + "\b", "", "1;6"},
				{"protection", "\x1b[1\"q" + save + "\x1b[0\"q" + restore + "XY\x1b[?2K", "XY....|ghijkl|mnopqr|stuvwx|yz0123", ""},
				{"of each screen by itself", "\x1b[2;2H" + save + "\x1b[?47h\x1b[3;3H" + save + "\x1b[?47l" + restore, "", "2;2"},
				{"twice", "\x1b[3;4H" + save + "\x1b[H" + restore + "\x1b[H" + restore, "", "3;4"},
			})
		})
	}
}

package vt

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anyText draws text of every width, with marks, clusters and ill-formed UTF-8.
func anyText(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.StringMatching(`[ -~]{1,60}`),
		rapid.SampledFrom([]string{
			"é", "e\u0301", "\u0301", "宽字", "한", "각", "👩‍👩‍👧", "🇩🇪", "🇩", "⚠\ufe0f", "👍🏽", "─│", "\u200b", "क्ष",
			"\xff", "\xc3", "\xe4\xb8", "\xf0\x9f\x91", "\xed\xa0\x80", "\xc0\xaf", "\u00ad", "\U0010ffff",
		}),
	)
	return strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "text"), "")
}

// anyNumber draws a parameter: mostly one that means something, now and then a huge one.
func anyNumber(t *rapid.T) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", "0", "1", "2", "3", "4:3", "5", "6", "7", "25", "38", "48", "58", "69", "1047", "1049", "2026", "2027", "99999999999"}),
		rapid.Map(rapid.IntRange(0, 40), func(n int) string { return fmt.Sprint(n) }),
	).Draw(t, "number")
}

func numbers(t *rapid.T, most int) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, most).Draw(t, "numbers") {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{";", ";", ";", ":"}).Draw(t, "separator"))
		}
		b.WriteString(anyNumber(t))
	}
	return b.String()
}

func finalByte(t *rapid.T, from byte) string {
	return string(rune(rapid.ByteRange(from, 0x7e).Draw(t, "final")))
}

// anyCSI draws a control sequence: of those that exist, and of those that do not.
func anyCSI(t *rapid.T) string {
	introducer := rapid.SampledFrom([]string{"\x1b[", "\x1b[", "\x1b[", "\u009b"}).Draw(t, "introducer")
	prefix := rapid.SampledFrom([]string{"", "", "", "", "?", "?", ">", "<", "="}).Draw(t, "prefix")
	inter := rapid.SampledFrom([]string{"", "", "", "", "", "", " ", "!", "\"", "#", "$", "'", "*", "+"}).Draw(t, "intermediate")
	return introducer + prefix + numbers(t, 9) + inter + finalByte(t, 0x40)
}

func anyEscape(t *rapid.T) string {
	inter := rapid.SampledFrom([]string{"", "", "", "#", "%", "(", ")", "*", "+", "-", " "}).Draw(t, "intermediate")
	return "\x1b" + inter + finalByte(t, 0x30)
}

func anyString(t *rapid.T) string {
	begin := rapid.SampledFrom([]string{
		"\x1b]0;", "\x1b]2;", "\x1b]4;", "\x1b]7;", "\x1b]8;", "\x1b]8;id=a;", "\x1b]9;", "\x1b]9;4;", "\x1b]10;", "\x1b]11;", "\x1b]52;c;", "\x1b]99;",
		"\x1b]104;", "\x1b]133;", "\x1b]777;notify;", "\x1b]7501;", "\x1b]", "\u009d2;", "\x1bP$q", "\x1bP+q", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\u0090q", "\x1b_G",
	}).Draw(t, "begin")
	body := rapid.OneOf(
		rapid.SampledFrom([]string{"", "?", "1;?", "1;rgb:1/2/3", "m", "r", "\"q", "544e", "A", "D;1", "1;50", "http://x/y", "YWJj", "i=1:d=0;a", "i=1;b", "id=x:state=working:title=YQ"}),
		rapid.StringMatching(`[ -~]{0,20}`),
		rapid.Just("中é\u0301"),
	).Draw(t, "body")
	end := rapid.SampledFrom([]string{"\x07", "\x1b\\", "\u009c", "\x18", "\x1a", "", "\x1b"}).Draw(t, "end")
	return begin + body + end
}

// anyInput draws one thing that a program may write.
func anyInput(t *rapid.T) string {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2:
		return anyText(t)
	case 3:
		return rapid.StringMatching(`[\x00-\x1f\x7f]{1,3}`).Draw(t, "controls")
	case 4, 5, 6:
		return anyCSI(t)
	case 7:
		return anyEscape(t)
	case 8:
		return anyString(t)
	}
	return rapid.SampledFrom([]string{
		"\x1b[2;4r", "\x1b[?69h\x1b[3;9s", "\x1b[?6h", "\x1b[4h", "\x1b[?7l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b(0", "\x1b[1\"q",
		"\x1b[31;44m", "\x1b[48;2;1;2;3m", "\x1b[4:3;58:5:9m", "\x1b[?2027l", "\x1b[?45h", "\u0084", "\u0085", "\u0088", "\u008d", "\x1b[1;1;3;5;1;2;2;1$v",
		"\x1b[20h", "\x1b7", "\x1b8", "\x1b[u", "x\x1b[20b", "\x1b[3\x18", "\x1b[3\n1m",
	}).Draw(t, "usual")
}

func anyOptions(t *rapid.T) Options {
	return Options{Cols: rapid.IntRange(1, 30).Draw(t, "cols"), Rows: rapid.IntRange(1, 9).Draw(t, "rows"), HistoryLines: 40}
}

// whole returns everything that a terminal is, as a value to compare: that is bare with what bare leaves out but
// for versions and buffers.
func whole(t *Terminal) any {
	c := bare(t)
	par := t.par
	par.str = append([]byte(nil), par.str...)
	if par.state == stGround { // nothing of the last sequence counts
		par = parser{npartial: par.npartial, partial: par.partial, dropRune: par.dropRune, dropHead: par.dropHead}
	}
	clear(par.params[min(par.nparams, maxParams):])
	clear(par.partial[par.npartial:])
	c.par = par
	c.joinable, c.lastRune = t.joinable, t.lastRune
	c.replies, c.events = append([]byte(nil), t.replies...), t.events
	c.cwd, c.lastProgress, c.statuses = t.cwd, t.lastProgress, t.statuses
	return c
}

// TestAnySplitGivesTheSame: whatever comes, in whatever pieces, the whole state is the same: screens, history, modes,
// what is saved, answers, events, and the place in the input.
func TestAnySplitGivesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions(t)
		one, cut := New(o), New(o)
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			in := []byte(strings.Join(rapid.SliceOfN(rapid.Custom(anyInput), 1, 20).Draw(t, "in"), ""))
			one.Write(in)
			size := rapid.IntRange(1, 5).Draw(t, "size")
			for rest := in; len(rest) > 0; {
				n := min(len(rest), rapid.IntRange(1, size).Draw(t, "n"))
				cut.Write(rest[:n])
				rest = rest[n:]
			}
			if !reflect.DeepEqual(whole(one), whole(cut)) {
				require.Equal(t, whole(one), whole(cut), "%q", in)
			}
			checkInvariants(t, one)
			cols, rows := rapid.IntRange(1, 30).Draw(t, "cols"), rapid.IntRange(1, 9).Draw(t, "rows")
			one.Resize(cols, rows)
			cut.Resize(cols, rows)
			checkInvariants(t, cut)
		}
	})
}

// TestResizeThereAndBackKeepsAllText: whatever the main screen holds, going through other sizes loses none of its text,
// as long as the history has room.
func TestResizeThereAndBackKeepsAllText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions(t)
		o.HistoryLines = 100_000
		o.Cols = max(o.Cols, 2)
		tm := New(o)
		tm.Write([]byte(strings.Join(rapid.SliceOfN(rapid.Custom(anyInput), 1, 40).Draw(t, "in"), "") + "\x18\x1b\\"))
		tm.Write([]byte("\x1b[?1049l"))
		want := inked(tm)
		for range rapid.IntRange(1, 4).Draw(t, "resizes") {
			tm.Resize(rapid.IntRange(2, 60).Draw(t, "cols"), rapid.IntRange(1, 20).Draw(t, "rows"))
			checkInvariants(t, tm)
		}
		tm.Resize(o.Cols, o.Rows)
		require.Equal(t, want, inked(tm))
		checkInvariants(t, tm)
	})
}

// inked is all text of history and main screen, without blanks.
func inked(tm *Terminal) string {
	return strings.NewReplacer(" ", "", "\n", "").Replace(paragraphs(tm))
}

// TestRepeatIsTyping: REP does what as many characters would, however it goes about it.
func TestRepeatIsTyping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions(t)
		repeated, typed := New(o), New(o)
		setup := strings.Join(rapid.SliceOfN(rapid.Custom(anyInput), 0, 8).Draw(t, "setup"), "") + "\x18\x1b\\\x18"
		char := rapid.SampledFrom([]string{"x", "宽", "é"}).Draw(t, "char")
		n := rapid.IntRange(1, o.Cols*(o.Rows+1)).Draw(t, "n")
		for tm, in := range map[*Terminal]string{repeated: fmt.Sprintf("%s\x1b[%db", char, n), typed: strings.Repeat(char, n+1)} {
			tm.Write([]byte(setup))
			tm.singleShift = 0 // it is for the first alone, and REP repeats what that became
			tm.updateSlow()
			tm.Write([]byte(in))
		}
		checkInvariants(t, repeated)
		require.Equal(t, snap(typed), snap(repeated))
	})
}

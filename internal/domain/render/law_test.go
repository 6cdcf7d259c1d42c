package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/vt"
)

// picture is what a frame promises to hand over, as values that mean the same in every terminal.
type picture struct {
	Lines   []string
	Cursor  vt.Cursor
	Modes   vt.Modes
	Title   string
	Palette vt.Palette
}

// receiver is a kind of terminal that the laws hold for.
type receiver struct {
	name   string
	target Target
	caps   Capabilities
}

var receivers = []receiver{
	{"engine", Canonical, Capabilities{}},
	{"xterm", UserTerminal, Capabilities{}},
	{"256 colours", UserTerminal, Capabilities{Colors: Colors256}},
	{"no colours", UserTerminal, Capabilities{Colors: ColorsNone}},
	{"linux", UserTerminal, Capabilities{Colors: Colors16, Basic: true}},
	{"vt100", UserTerminal, Capabilities{Colors: ColorsNone, Basic: true}},
}

func (r receiver) painter() *Painter { return NewPainter(r.target, r.caps) }

// fresh is such a terminal, ready to be painted.
func (r receiver) fresh(p *Painter, cols, rows int) *vt.Terminal {
	t := vt.New(vt.Options{Cols: cols, Rows: rows})
	if r.target == UserTerminal {
		t.Write(p.Enter(nil))
	}
	return t
}

// describe tells each cell by column, text, width and style; blanks count alike whether written or not.
func describe(t *vt.Terminal, cells []vt.Cell, c Capabilities) string {
	var b strings.Builder
	for x, cell := range cells {
		var text string
		if cell.IsBlank() || cell.IsSpacer() {
			text = " "
		} else {
			text = string(t.AppendCell(nil, cell))
		}
		s := c.style(styleOf(t, cell))
		if text == " " && s == (vt.Style{}) && !cell.IsSpacer() {
			continue
		}
		fmt.Fprintf(&b, "%d:%q", x, text)
		if cell.IsWide() {
			b.WriteString("W")
		}
		if cell.IsSpacer() {
			b.WriteString("S")
		}
		if s != (vt.Style{}) {
			fmt.Fprintf(&b, "%v", s)
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// wants is what such a terminal has to show for a frame.
func (r receiver) wants(f *Frame) picture {
	p := picture{Cursor: f.Cursor, Title: f.Title}
	if f.Palette != nil {
		p.Palette = *f.Palette
	}
	p.Modes = r.painter().frameModes(f.Modes)
	var scratch []vt.Cell
	for y := range f.Rows {
		p.Lines = append(p.Lines, fmt.Sprintf("%d %v: %s", y, f.wrapped(y), describe(f.rows[y].t, f.cells(y, &scratch), r.caps)))
	}
	if r.caps.Basic {
		p.Title, p.Palette, p.Cursor.Style, p.Cursor.Blink = "", vt.Palette{}, 0, false
	}
	return r.seen(p)
}

// shows is what a terminal of that kind shows.
func (r receiver) shows(t *vt.Terminal) picture {
	var f Frame
	f.SetTerminal(t)
	all := r
	all.caps = Capabilities{} // nothing is made of what a poor terminal shows: it has to be right
	p := all.wants(&f)
	p.Modes.AltScroll = p.Modes.AltScroll && !r.caps.Basic // a mode that is left alone there
	return p
}

// seen leaves out what a person's terminal does not get.
func (r receiver) seen(p picture) picture {
	p.Palette.Changed = 0
	if r.target == Canonical {
		return p
	}
	p.Modes.Alternate = false
	p.Cursor.Pending = false
	if !p.Cursor.Visible {
		p.Cursor.Col, p.Cursor.Row = 0, 0
	}
	for i, l := range p.Lines {
		_, rest, _ := strings.Cut(l, ": ")
		p.Lines[i] = rest
	}
	return p
}

func canonicalPicture(t *vt.Terminal) picture { return receivers[0].shows(t) }

func userPicture(t *vt.Terminal) picture { return receivers[1].shows(t) }

// output draws a piece of a program's output.
func output(t *rapid.T) string {
	n := func(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, "n") }
	words := []string{
		"a", "hello world", "        ", "0123456789012345678901234567890123456789", "─│┌", "宽字符", "한국어", "e\u0301",
		"\u0301", "👩‍👩‍👧", "\u200d", "👧", "⚠\ufe0f", "\ufe0f", "⚠", "🇩🇪", "🇩", "👍🏽", "🏽", "☝", "क्ष", "ᄀ", "가", "1\ufe0f\u20e3", "\u00ad",
		"\r", "\n", "\r\n", "\b", "\t", "\x1bM", "\x1bD", "\x1bE", "\x1b7", "\x1b8", "\x1b(0qx\x1b(B", "\x0e", "\x0f",
		"\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[m", "\x1b[1;4m", "\x1b[44m", "\x1b[7m", "\x1b[22;31m",
		"\x1b[38;2;1;2;3m", "\x1b[48;5;200m", "\x1b[4:3;58:2::9:8:7m", "\x1b[59m", "\x1b[93;53m", "\x1b[1m", "\x1b[2m", "\x1b[22m",
		"\x1b]8;id=a;http://x/\x1b\\", "\x1b]8;;http://y/;z\x1b\\", "\x1b]8;;\x1b\\", "\x1b]2;title\x07", "\x1b]2;\x07",
		"\x1b]4;1;rgb:12/34/56\x07", "\x1b]104\x07", "\x1b]11;#123456\x07", "\x1b]111\x07",
		"\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l", "\x1b[?6h", "\x1b[?6l", "\x1b[?1h", "\x1b[?1l", "\x1b=", "\x1b>", "\x1b[?5h",
		"\x1b[?5l", "\x1b[?25l", "\x1b[?25h", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[?1047h", "\x1b[?1047l",
		"\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h", "\x1b[?1003l", "\x1b[?1006h", "\x1b[?1006l", "\x1b[?2004h", "\x1b[?2004l", "\x1b[?1004h",
		"\x1b[?2027l", "\x1b[?2027h", "\x1b[>1u", "\x1b[<u", "\x1b[=5;1u", "\x1b[>4;2m", "\x1b[>4m", "\x1b[>4;1f", "\x1b[>4;0f", "\x1b[3 q", "\x1b[0 q", "\x1b[?12h",
		"\x1b[20h", "\x1b[20l", "\x1b[?69h\x1b[2;7s", "\x1b[?69l", "\x1b[r", "\x1b[2;4r", "\x1b#8", "\x1bc", "\x1b[!p", "\x1b[?1007l",
		"\x1b[5b", "\x1b[2;2;4;4$z", "\x1b[1;1;2;9;1;3;4;1$v", "\x1b[\"1q", "\x1b[?2026h", "\x1b[?2026l", "\x1b[=1;2w",
	}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return fmt.Sprintf("\x1b[%d;%dH", n(1, 9), n(1, 22))
	case 1:
		finals := "ABCDEFGIZdae@PXLMST"
		return fmt.Sprintf("\x1b[%d%c", n(0, 9), finals[n(0, len(finals)-1)])
	}
	return rapid.SampledFrom(words).Draw(t, "word")
}

func outputs(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(1, 25).Draw(t, "pieces") {
		b.WriteString(output(t))
	}
	return b.String()
}

// laws checks, over a history of writes, resizes and overlaid or cropped frames, that both a full paint and the
// differences from the frames before make a terminal show what the frame is, also when several are written at once.
func laws(t *rapid.T, r receiver) {
	draw := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
	cols, rows := draw(1, 20, "cols"), draw(1, 8, "rows")
	src := vt.New(vt.Options{Cols: cols, Rows: rows, HistoryLines: 10})
	note := vt.New(vt.Options{Cols: draw(1, 20, "cols"), Rows: 2})
	p := r.painter()
	mirror := r.fresh(p, cols, rows)
	var f Frame
	var owed []byte // painted and not written yet
	for range draw(1, 6, "steps") {
		in := outputs(t)
		src.Write([]byte(in))
		if draw(0, 5, "resize") == 0 {
			src.Resize(draw(1, 20, "cols"), draw(1, 8, "rows"))
		}
		f.SetTerminal(src)
		if r.target == UserTerminal {
			disturb(t, &f, note)
		}
		if f.Cols != cols || f.Rows != rows {
			cols, rows = f.Cols, f.Rows
			mirror.Write(owed)
			owed = owed[:0]
			mirror.Resize(cols, rows)
		}
		want := r.wants(&f)
		was := len(owed)
		owed = p.Paint(owed, &f)
		if more := p.Paint(nil, &f); len(more) > 0 {
			t.Fatalf("painting the same frame again gives %q", more)
		}
		if draw(0, 3, "later") > 0 {
			mirror.Write(owed)
			if got := r.shows(mirror); !equalPictures(want, got) {
				t.Fatalf("%s: difference %q after %q:\n%s", r.name, owed[was:], in, compare(want, got))
			}
			owed = owed[:0]
		}
		again := r.painter()
		fresh := r.fresh(again, cols, rows)
		full := again.Paint(nil, &f)
		fresh.Write(full)
		if got := r.shows(fresh); !equalPictures(want, got) {
			t.Fatalf("%s: full paint %q after %q:\n%s", r.name, full, in, compare(want, got))
		}
	}
}

// dimDot may be beyond a window's frame.
var dimDot = func() vt.Cell {
	t := vt.New(vt.Options{Cols: 1, Rows: 1})
	t.Write([]byte("\x1b[2m."))
	return t.Row(0).Cells()[0]
}()

// disturb makes the frame what a client may make of a terminal: a window of it, with another terminal's rows over it.
func disturb(t *rapid.T, f *Frame, note *vt.Terminal) {
	beyond := rapid.SampledFrom([]vt.Cell{{}, dimDot}).Draw(t, "beyond")
	switch rapid.IntRange(0, 7).Draw(t, "frame") {
	case 0:
		n := func(hi int, what string) int { return rapid.IntRange(0, hi).Draw(t, what) }
		f.Window(n(5, "x"), n(3, "y"), 1+n(20, "cols"), 1+n(7, "rows"), beyond)
	case 1:
		note.Write([]byte(outputs(t)))
		f.SetRow(f.Rows-1, note, 0)
		f.SetRow(0, note, 1)
	case 2:
		note.Write([]byte(outputs(t)))
		f.SetRow(f.Rows/2, note, 1)
		f.Window(0, 0, f.Cols+1, f.Rows, beyond)
	}
}

func equalPictures(a, b picture) bool {
	if len(a.Lines) != len(b.Lines) || a.Cursor != b.Cursor || a.Modes != b.Modes || a.Title != b.Title || a.Palette != b.Palette {
		return false
	}
	for i := range a.Lines {
		if a.Lines[i] != b.Lines[i] {
			return false
		}
	}
	return true
}

func compare(want, got picture) string {
	var b strings.Builder
	for i := range max(len(want.Lines), len(got.Lines)) {
		w, g := "-", "-"
		if i < len(want.Lines) {
			w = want.Lines[i]
		}
		if i < len(got.Lines) {
			g = got.Lines[i]
		}
		mark := " "
		if w != g {
			mark = "!"
		}
		fmt.Fprintf(&b, "%s want %s\n%s  got %s\n", mark, w, mark, g)
	}
	fmt.Fprintf(&b, "want %+v %+v %q\n got %+v %+v %q\npalettes equal: %v", want.Cursor, want.Modes, want.Title, got.Cursor, got.Modes, got.Title, want.Palette == got.Palette)
	return b.String()
}

func TestLaws(t *testing.T) {
	for _, r := range receivers {
		t.Run(r.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { laws(t, r) })
		})
	}
}

func TestLeaveUndoesEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		user := vt.New(vt.Options{Cols: 20, Rows: 5})
		user.Write([]byte("\x1b]2;shell\x07\x1b[31mprompt \x1b[m$ "))
		before := canonicalPicture(user)
		r := rapid.SampledFrom(receivers[1:]).Draw(t, "receiver")
		p := r.painter()
		user.Write(p.Enter(nil))
		src := vt.New(vt.Options{Cols: 20, Rows: 5})
		for range rapid.IntRange(1, 3).Draw(t, "frames") {
			src.Write([]byte(outputs(t)))
			var f Frame
			f.SetTerminal(src)
			b := p.Paint(nil, &f)
			user.Write(b[:rapid.IntRange(0, len(b)).Draw(t, "written")])
		}
		user.Write(p.Leave(nil))
		user.Write([]byte("\x1b[m"))
		if got := canonicalPicture(user); !equalPictures(before, got) {
			t.Fatal(compare(before, got))
		}
		require.Nil(t, user.TakeReplies())
	})
}

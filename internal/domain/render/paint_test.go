package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// pair is a source, a painter, and the terminal it paints.
type pair struct {
	src, dst *vt.Terminal
	p        *Painter
	f        Frame
}

func newPair(target Target, cols, rows int) *pair {
	o := vt.Options{Cols: cols, Rows: rows}
	s := &pair{src: vt.New(o), dst: vt.New(o), p: NewPainter(target, Capabilities{})}
	if target == UserTerminal {
		s.dst.Write(s.p.Enter(nil))
	}
	s.paint()
	return s
}

func (s *pair) paint() string {
	s.f.SetTerminal(s.src)
	return s.send()
}

func (s *pair) send() string {
	b := s.p.Paint(nil, &s.f)
	s.dst.Write(b)
	return string(b)
}

// after writes to the source and returns what painting that takes.
func (s *pair) after(in string) string {
	s.src.Write([]byte(in))
	return s.paint()
}

func lines(t *vt.Terminal) []string {
	_, rows := t.Size()
	var out []string
	for y := range rows {
		r := t.Row(y)
		out = append(out, string(AppendText(nil, t, &vt.Line{Cells: r.Cells()})))
	}
	return out
}

// TestPaintIsSmall says in bytes what changes cost.
func TestPaintIsSmall(t *testing.T) {
	s := newPair(UserTerminal, 80, 24)
	require.Equal(t, "a", s.after("a"), "an echoed character is itself")
	require.Equal(t, "", s.after(""))
	require.Equal(t, "\r", s.after("\b"))
	require.Equal(t, "\x1b[1mb", s.after("\x1b[1mb"))
	require.Equal(t, "\r\n", s.after("\r\n"))
	require.Equal(t, "c", s.after("c"), "the pen stays bold")
	require.Equal(t, "\x1b[md", s.after("\x1b[md"))
	require.Equal(t, "\x1b[10;20H", s.after("\x1b[10;20H"))
	require.Equal(t, "\x1b[2;2H \b", s.after("\x1b[2;2H\x1b[K"), "one blank is printed")
	s.after("\x1b[5;1H" + strings.Repeat("x", 60) + "\r")
	require.Equal(t, "\x1b[K", s.after("\x1b[K"), "many are erased")
	require.Equal(t, "\x1b]2;t\x1b\\", s.after("\x1b]2;t\x07"))
	require.Equal(t, "\x1b[?2004h", s.after("\x1b[?2004h"))
	require.Equal(t, "\x1b[3 q", s.after("\x1b[3 q"))
}

func TestPaintScrolls(t *testing.T) {
	for _, target := range []Target{Canonical, UserTerminal} {
		s := newPair(target, 80, 24)
		for i := range 24 {
			s.src.Write(fmt.Appendf(nil, "\r\nline %d %s", i, strings.Repeat("text ", 12)))
		}
		s.paint()
		b := s.after("\r\nnew 1\r\nnew 2")
		require.Contains(t, b, "\x1b[2S")
		require.Less(t, len(b), 60, "%q", b)
		require.Equal(t, lines(s.src), lines(s.dst))

		b = s.after("\x1b[5;20r\x1b[20;1H\n\n\x1b[r")
		require.Contains(t, b, "\x1b[5;20r\x1b[2S\x1b[r", "a region")
		require.Less(t, len(b), 60)
		b = s.after("\x1b[3;1H\x1b[4L")
		require.Contains(t, b, "\x1b[3;24r\x1b[4T\x1b[r", "downwards")
		require.Less(t, len(b), 60)
		require.Equal(t, lines(s.src), lines(s.dst))
	}
}

// TestFloodOfEqualLines: new rows with the old text cost nothing.
func TestFloodOfEqualLines(t *testing.T) {
	s := newPair(UserTerminal, 80, 24)
	s.after(strings.Repeat("y\r\n", 100))
	require.Less(t, len(s.after(strings.Repeat("y\r\n", 1000))), 20)
}

func TestOverlayRow(t *testing.T) {
	s := newPair(UserTerminal, 20, 4)
	s.after("one\r\ntwo\r\nthree\r\nfo\u0301ur \x1b]8;;http://x\x07link")
	note := vt.New(vt.Options{Cols: 20, Rows: 1})
	note.Write([]byte("\x1b[7mnotice e\u0301"))
	s.f.SetTerminal(s.src)
	s.f.SetRow(3, note, 0)
	s.send()
	require.Equal(t, []string{"one", "two", "three", "notice e\u0301"}, lines(s.dst))
	require.Empty(t, s.p.Paint(nil, &s.f))
	s.paint()
	require.Equal(t, lines(s.src), lines(s.dst))
	require.Equal(t, "http://x", s.dst.Link(s.dst.Row(3).Cells()[6]).URI)
}

func TestMadeCells(t *testing.T) {
	s := newPair(UserTerminal, 10, 3)
	s.after("one\r\ntwo e\u0301\r\nthree")
	made := append([]vt.Cell(nil), s.src.Row(1).Cells()...)
	made[0] = made[0].With('T')
	made[8], made[9] = made[3].WithWide('宽')
	set := func(version uint64) {
		s.f.SetTerminal(s.src)
		s.f.SetCells(1, made, version)
		s.f.SetCells(3, made, version) // not a row
	}
	set(1)
	s.send()
	require.Equal(t, []string{"one", "Two e\u0301   宽", "three"}, lines(s.dst))
	set(1)
	require.Empty(t, s.p.Paint(nil, &s.f))
	made[0] = made[0].With('Z').WithUnderline(vt.UnderlineSingle)
	set(2)
	s.send()
	require.Equal(t, []string{"one", "Zwo e\u0301   宽", "three"}, lines(s.dst))
	require.Equal(t, vt.UnderlineSingle, s.dst.Row(1).Cells()[0].Attrs().Underline())
	set(3)
	s.f.Window(1, 1, 8, 1, vt.Cell{})
	s.send()
	require.Equal(t, "wo e\u0301", strings.TrimRight(lines(s.dst)[0], " "), "the wide one is cut by the edge")
	s.p.Reset()
	s.paint()
	require.Equal(t, lines(s.src), lines(s.dst))
}

func TestWindow(t *testing.T) {
	src := vt.New(vt.Options{Cols: 10, Rows: 4})
	src.Write([]byte("0123456789\r\nab宽d宽ghi\r\nx\r\n\x1b[44m\x1b[K12345"))
	for _, c := range []struct {
		x, y, cols, rows int
		want             []string
	}{
		{0, 0, 10, 4, []string{"0123456789", "ab宽d宽ghi", "x", "12345"}},
		{3, 0, 4, 2, []string{"3456", " d宽"}},
		{2, 1, 4, 1, []string{"宽d"}},
		{5, 2, 10, 4, []string{"", "", "", ""}},
		{0, 0, 14, 6, []string{"0123456789", "ab宽d宽ghi", "x", "12345", "", ""}},
	} {
		var f Frame
		f.SetTerminal(src)
		f.Window(c.x, c.y, c.cols, c.rows, vt.Cell{})
		dst := vt.New(vt.Options{Cols: c.cols, Rows: c.rows})
		p := NewPainter(UserTerminal, Capabilities{})
		dst.Write(p.Paint(p.Enter(nil), &f))
		require.Equal(t, c.want, lines(dst))
		require.Empty(t, p.Paint(nil, &f))
		if inside := src.Cursor().Col-c.x >= 0 && src.Cursor().Col-c.x < c.cols && src.Cursor().Row-c.y < c.rows; !inside {
			require.False(t, dst.Cursor().Visible)
		} else {
			require.Equal(t, src.Cursor().Col-c.x, dst.Cursor().Col)
		}
	}
}

// TestWindowFollows: painting windows that move over a changing terminal shows each of them.
func TestWindowFollows(t *testing.T) {
	src := vt.New(vt.Options{Cols: 30, Rows: 10})
	p := NewPainter(UserTerminal, Capabilities{})
	dst := vt.New(vt.Options{Cols: 12, Rows: 4})
	dst.Write(p.Enter(nil))
	var f Frame
	for i := range 50 {
		src.Write(fmt.Appendf(nil, "\x1b[%d;%dH宽 e\u0301%d\x1b[%dm\r\n", 1+i*7%10, 1+i*5%30, i, 30+i%8))
		x, y := i*3%19, i*5%7
		f.SetTerminal(src)
		f.Window(x, y, 12, 4, vt.Cell{})
		dst.Write(p.Paint(nil, &f))
		fresh := vt.New(vt.Options{Cols: 12, Rows: 4})
		full := NewPainter(UserTerminal, Capabilities{})
		fresh.Write(full.Paint(full.Enter(nil), &f))
		require.Equal(t, userPicture(fresh), userPicture(dst), "frame %d", i)
	}
}

// TestSweepRepaints: cells that were renumbered are not mistaken for what was painted.
func TestSweepRepaints(t *testing.T) {
	s := newPair(Canonical, 20, 4)
	gen := s.src.Generation()
	marks := []rune{0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307, 0x308}
	for i := 0; s.src.Generation() == gen; i++ {
		s.src.Write([]byte(string([]rune{'a', marks[i%8], marks[i/8%8], marks[i/64%8], marks[i/512%8], marks[i/4096%8]})))
		if i%100 == 0 {
			s.paint()
		}
	}
	s.paint()
	require.Equal(t, canonicalPicture(s.src), canonicalPicture(s.dst))
}

func TestPaintDoesNotAllocate(t *testing.T) {
	for _, target := range []Target{Canonical, UserTerminal} {
		src := vt.New(vt.Options{Cols: 80, Rows: 24})
		p := NewPainter(target, Capabilities{})
		var f Frame
		var buf []byte
		i := 0
		paint := func() {
			i++
			in := fmt.Appendf(nil, "\x1b[H\x1b[%dmx%d\r\n宽e\u0301\x1b]8;;http://x\x07y\x1b]8;;\x07\x1b[m%s", 31+i%7, i, strings.Repeat("z\r\n", i%30))
			src.Write(in)
		}
		paint()
		f.SetTerminal(src)
		buf = p.Paint(buf[:0], &f)
		for range 40 {
			paint()
			f.SetTerminal(src)
			buf = p.Paint(buf[:0], &f)
		}
		require.Zero(t, testing.AllocsPerRun(20, func() {
			f.SetTerminal(src)
			p.Reset()
			buf = p.Paint(buf[:0], &f)
			buf = p.Paint(buf[:0], &f)
			f.Window(3, 2, 80, 24, dimDot)
			buf = p.Paint(buf[:0], &f)
		}))
	}
}

func TestCapture(t *testing.T) {
	tm := vt.New(vt.Options{Cols: 40, Rows: 2})
	tm.Write([]byte("a\x1b[5Gb \x1b[1;31mred\x1b[m宽\x1b]8;id=1;http://x\x07l\x1b]8;;\x07\x1b[44m  \x1b[m   "))
	var l vt.Line
	require.True(t, tm.ReadLine(0, &l))
	require.Equal(t, "a   b red宽l", string(AppendText(nil, tm, &l)))
	require.Equal(t, "a   b \x1b[1;31mred\x1b[m宽\x1b]8;id=1;http://x\x1b\\l\x1b]8;;\x1b\\\x1b[44m  \x1b[m", string(AppendANSI(nil, tm, &l, Capabilities{})))
	require.Equal(t, []Run{
		{Col: 7, Len: 3, Style: vt.Style{Fg: vt.Indexed(1), Attrs: vt.Bold}},
		{Col: 12, Len: 1, Style: vt.Style{Link: vt.Link{URI: "http://x", ID: "1"}}},
		{Col: 13, Len: 2, Style: vt.Style{Bg: vt.Indexed(4)}},
	}, Runs(tm, &l))
	again := vt.New(vt.Options{Cols: 40, Rows: 2})
	again.Write(AppendANSI(nil, tm, &l, Capabilities{}))
	var l2 vt.Line
	require.True(t, again.ReadLine(0, &l2))
	require.Equal(t, describe(tm, l.Cells[:14], Capabilities{}), describe(again, l2.Cells[:14], Capabilities{}))
}

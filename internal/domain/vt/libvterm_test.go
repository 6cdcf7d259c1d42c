package vt

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

type libvtermStep struct {
	Do, Event, Check string
	Args, Hex        string
	Value            any
	Cps              []string
	Line             int
}

type libvtermFile struct {
	File  string
	Cases []struct {
		Name  string
		Steps []libvtermStep
	}
}

// do carries out a command. Those that do not concern an engine, like which events are wanted, do nothing.
func (s *libvtermStep) do(tb testing.TB, tm **Terminal) {
	switch s.Do {
	case "INIT":
		*tm = New(Options{Cols: 80, Rows: 25, HistoryLines: 100})
	case "RESET":
		(*tm).Write([]byte("\x1bc"))
	case "PUSH":
		b, err := hex.DecodeString(s.Hex)
		require.NoError(tb, err)
		(*tm).TakeReplies()
		(*tm).Write(b)
	case "RESIZE":
		rows, cols, _ := strings.Cut(s.Args, ",")
		r, _ := strconv.Atoi(rows)
		c, _ := strconv.Atoi(cols)
		(*tm).Resize(c, r)
	}
}

// libvtermSkipped are what asks for the form of libvterm's interface: how it tells of damage, hands over a selection in
// pieces, or calls what its parser and decoder found. None of it is a state of a terminal.
var libvtermSkipped = map[string]bool{
	"damage": true, "moverect": true, "scrollrect": true, "erase": true, "movecursor": true, "sb_popline": true, "sb_clear": true,
	"selection-set": true, "selection-query": true, "encout": true, "screen_attrs_extent": true,
	"text": true, "control": true, "escape": true, "csi": true, "osc": true, "dcs": true, "apc": true, "pm": true, "sos": true,
}

// verify compares the state with what the step says of it; later are the steps behind it up to the next command.
func (s *libvtermStep) verify(tb testing.TB, tm *Terminal, last *libvtermStep, later []libvtermStep) (want, got string, ok bool) {
	v, _ := s.Value.(string)
	area := numbersIn(s.Args)
	switch s.Check + s.Event {
	case "cursor":
		c := tm.Cursor()
		return v, fmt.Sprintf("%d,%d", c.Row, c.Col), true
	case "screen_row":
		return strings.TrimRight(s.text(tb), " "), rowText(tm, tm.Row(area[0])), true
	case "screen_chars", "screen_text":
		var rows []string
		for y := area[0]; y < area[2]; y++ {
			cells := tm.Row(y).Cells()
			rows = append(rows, rowText(tm, &Row{cells: cells[area[1]:min(area[3], len(cells))]}))
		}
		return s.text(tb), strings.Join(rows, "\n"), true
	case "screen_eol":
		r := tm.Row(area[0])
		return v, strconv.Itoa(oneIf(r.textEnd() <= area[1])), true
	case "screen_cell":
		return v, libvtermCell(tm, tm.Row(area[0]).Cells()[area[1]]), true
	case "lineinfo":
		return v, map[bool]string{true: "cont"}[area[0] > 0 && tm.Row(area[0]-1).Wrapped()], true
	case "pen":
		return v, libvtermPen(tm, s.Args), true
	case "output":
		b, _ := hex.DecodeString(s.Hex)
		n := min(len(b), len(tm.replies))
		got := string(tm.replies[:n])
		tm.replies = tm.replies[n:]
		return string(b), got, true
	case "settermprop":
		got, ok = libvtermProperty(tm, s.Args)
		return s.Args, got, ok && last.Do == "PUSH" // the defaults are each terminal's own
	case "putglyph":
		return s.verifyGlyph(tm, area, later)
	case "sb_pushline":
		return s.verifyPushed(tm, later)
	}
	require.True(tb, libvtermSkipped[s.Check+s.Event], "%d: what is %s%s?", s.Line, s.Check, s.Event)
	return "", "", false
}

// verifyGlyph compares a cell, unless something else came there, or it was scrolled away, before the command had ended.
func (s *libvtermStep) verifyGlyph(tm *Terminal, area []int, later []libvtermStep) (want, got string, ok bool) {
	for _, l := range later {
		if l.Event == "moverect" || l.Event == "scrollrect" || l.Event == "putglyph" && strings.HasPrefix(l.Args, s.Args[:strings.IndexByte(s.Args, ',')]) &&
			numbersIn(l.Args)[2] == area[2] {
			return "", "", false
		}
	}
	c := tm.Row(area[1]).Cells()[area[2]]
	width := "1"
	if c.IsWide() {
		width = "2"
	}
	got = fmt.Sprintf("%s %d,%d", width, area[1], area[2])
	if c.attr()&protected != 0 {
		got += " prot"
	}
	return strings.Join(s.Cps, " ") + " " + s.Args, hexRunes(string(tm.AppendCell(nil, c)), "") + " " + got, true
}

// verifyPushed compares a line of the history: the one that as many came behind as the command pushed later.
func (s *libvtermStep) verifyPushed(tm *Terminal, later []libvtermStep) (want, got string, ok bool) {
	behind := uint64(1)
	for _, l := range later {
		if l.Event == "sb_pushline" {
			behind++
		}
	}
	var line Line
	if !tm.ReadLine(tm.ScreenTop()-behind, &line) {
		return s.Args, "no line", true
	}
	_, want, _ = strings.Cut(s.Args, "=")
	return strings.ToLower(strings.TrimSpace(want)), hexRunes(rowText(tm, &Row{cells: line.Cells}), ""), true
}

var libvtermNumber = strings.NewReplacer(",", " ", "..", " ")

func numbersIn(args string) (out []int) {
	for f := range strings.FieldsSeq(libvtermNumber.Replace(args)) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// text is what a step expects as text: as bytes, as code points, or for screen_text as numbers of bytes.
func (s *libvtermStep) text(tb testing.TB) string {
	b, _ := hex.DecodeString(s.Hex)
	v, _ := s.Value.(string)
	if v == "" {
		return string(b)
	}
	for number := range strings.SplitSeq(v, ",") {
		r, err := strconv.ParseUint(number, 0, 32)
		require.NoError(tb, err)
		if s.Check == "screen_text" {
			b = append(b, byte(r))
		} else {
			b = utf8.AppendRune(b, rune(r))
		}
	}
	return string(b)
}

func hexRunes(text, prefix string) string {
	var out []string
	for _, r := range text {
		out = append(out, prefix+strconv.FormatInt(int64(r), 16))
	}
	return strings.Join(out, " ")
}

// libvtermCell is a cell as libvterm writes it. It tells colours as its own palette has them.
func libvtermCell(tm *Terminal, c Cell) string {
	s := tm.Style(c)
	attrs := ""
	for _, a := range []struct {
		on   bool
		name string
	}{
		{s.Attrs&Bold != 0, "B"},
		{s.Attrs.Underline() != 0, fmt.Sprint("U", uint8(s.Attrs.Underline()))},
		{s.Attrs&Italic != 0, "I"},
		{s.Attrs&Blink != 0, "K"},
		{s.Attrs&Inverse != 0 != tm.Modes().ReverseVideo, "R"},
	} {
		if a.on {
			attrs += a.name
		}
	}
	color := func(c Color, def string) string {
		if n, ok := c.Index(); ok && n < 8 {
			level := func(bit uint8) int { return 224 * int(n>>bit&1) }
			return fmt.Sprintf("rgb(%d,%d,%d)", level(0), level(1), level(2))
		}
		return libvtermColor(c, def)
	}
	text := strings.ReplaceAll(hexRunes(string(tm.AppendCell(nil, c)), "0x"), " ", ",")
	return fmt.Sprintf("{%s} width=%d attrs={%s} fg=%s bg=%s", text, 1+oneIf(c.IsWide()), attrs, color(s.Fg, "rgb(240,240,240)"), color(s.Bg, "rgb(0,0,0)"))
}

func libvtermColor(c Color, def string) string {
	if n, ok := c.Index(); ok {
		return fmt.Sprintf("idx(%d)", n)
	}
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf("rgb(%d,%d,%d)", r, g, b)
	}
	return def
}

// libvtermPen is one attribute of the pen. There are no other fonts, and no raised or lowered text.
func libvtermPen(tm *Terminal, what string) string {
	s := tm.Style(tm.pen)
	onOff := func(a Attrs) string { return map[bool]string{true: "on", false: "off"}[s.Attrs&a != 0] }
	switch what {
	case "bold":
		return onOff(Bold)
	case "italic":
		return onOff(Italic)
	case "blink":
		return onOff(Blink)
	case "reverse":
		return onOff(Inverse)
	case "underline":
		return strconv.Itoa(int(s.Attrs.Underline()))
	case "foreground":
		return libvtermColor(s.Fg, "rgb(240,240,240,is_default_fg)")
	case "background":
		return libvtermColor(s.Bg, "rgb(0,0,0,is_default_bg)")
	}
	return map[string]string{"font": "0", "small": "off", "baseline": "normal"}[what]
}

// libvtermProperty writes a property of the terminal as the step has it. A title comes in pieces, each of which is to
// be in the title.
func libvtermProperty(tm *Terminal, args string) (string, bool) {
	number, value, _ := strings.Cut(args, " ")
	c, m := tm.Cursor(), tm.Modes()
	switch number {
	case "1":
		return fmt.Sprint("1 ", c.Visible), true
	case "2":
		return fmt.Sprint("2 ", c.Blink), true
	case "3":
		return fmt.Sprint("3 ", m.Alternate), true
	case "4":
		if strings.Contains(tm.Title(), strings.Trim(value, `["]`)) {
			return args, true
		}
		return tm.Title(), !strings.HasPrefix(value, "[") || strings.HasSuffix(value, "]") // not before it is whole
	case "6":
		return fmt.Sprint("6 ", m.ReverseVideo), true
	case "7":
		return fmt.Sprint("7 ", max(uint8(c.Style), 1)), true
	case "8":
		return fmt.Sprint("8 ", map[MouseTracking]int{MouseNormal: 1, MouseButton: 2, MouseAny: 3}[m.Mouse]), true
	}
	return "", false
}

func TestLibvterm(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus(t, "libvterm"), "*.json"))
	require.NoError(t, err)
	passed := 0
	used := map[string]bool{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		var f libvtermFile
		require.NoError(t, json.Unmarshal(b, &f))
		if excused("libvterm", f.File) != "" {
			used[f.File] = true
			continue
		}
		var tm *Terminal
		for _, c := range f.Cases {
			var last *libvtermStep
			for i, s := range c.Steps {
				if s.Do != "" {
					s.do(t, &tm)
					last = &c.Steps[i]
					continue
				}
				later := c.Steps[i+1:]
				for n, l := range later {
					if l.Do != "" {
						later = later[:n]
						break
					}
				}
				want, got, ok := s.verify(t, tm, last, later)
				if !ok {
					continue
				}
				at := fmt.Sprintf("%s:%d", f.File, s.Line)
				switch {
				case want == got:
					passed++
				case excused("libvterm", at) != "":
					used[at] = true
				default:
					t.Errorf("%s %s: want %q, got %q", at, c.Name, want, got)
				}
			}
		}
	}
	t.Logf("%d checks passed", passed)
	requireAllUsed(t, "libvterm", used)
}

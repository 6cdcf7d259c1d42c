package vt

// The largest screen: sizes beyond are clamped.
const (
	MaxCols = 1000
	MaxRows = 500
)

// Options are what a new Terminal is made with.
type Options struct {
	// Cols and Rows are clamped to [1, MaxCols] and [1, MaxRows].
	Cols, Rows int
	// HistoryLines is how many lines that left the main screen are kept; 0 keeps none. The oldest are dropped.
	HistoryLines int
	// HistoryBytes bounds the memory of the history, in whole chunks of 64 KiB and at least two of them; 0 means 64 MiB.
	HistoryBytes int
}

// Terminal is one emulated terminal. It is for one goroutine at a time.
type Terminal struct {
	cols, rows int
	version    uint64
	gen        uint64
	screen     []*Row
}

// New returns a terminal in its reset state. It starts nothing.
func New(o Options) *Terminal {
	t := &Terminal{cols: clamp(o.Cols, 1, MaxCols), rows: clamp(o.Rows, 1, MaxRows), version: 1}
	for i := range t.rows {
		t.screen = append(t.screen, &Row{cells: make([]Cell, t.cols), id: uint64(i), ver: 1, plain: true})
	}
	return t
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }

// Write feeds output of the program. It takes all of p, never fails and never waits; how the output is cut into writes
// makes no difference. p is not kept.
func (t *Terminal) Write(p []byte) (int, error) { return len(p), nil }

// Resize changes the screen's size, clamped as in [Options]. The main screen's lines are wrapped anew, lines that no
// longer fit go to the history and come back from it; the alternate screen is cropped. Ends mode 2026.
func (t *Terminal) Resize(cols, rows int) {}

// Size returns the screen's size in cells.
func (t *Terminal) Size() (cols, rows int) { return t.cols, t.rows }

// Version grows with each visible change (cells, cursor, modes, title, colours): when it is equal there is nothing to
// draw.
func (t *Terminal) Version() uint64 { return t.version }

// Generation grows when cells were renumbered: copies of cells kept from before no longer resolve.
func (t *Terminal) Generation() uint64 { return t.gen }

// TakeReplies returns what is to be sent to the program, in the order of its questions, and forgets it. It never holds
// bytes the program chose. At most maxReplyBytes gather; further answers are dropped whole until they are taken. The
// slice is valid until the next Write.
func (t *Terminal) TakeReplies() []byte { return nil }

// TakeEvents returns the events since the last call and forgets them; nil when there are none. At most maxEvents
// gather: then the oldest are dropped and an EventDropped comes first.
func (t *Terminal) TakeEvents() []Event { return nil }

// EndSync ends mode 2026. The owner calls it when a program holds drawing for too long, or has ended.
func (t *Terminal) EndSync() {}

// FirstLine returns the number of the oldest line that is kept; it equals ScreenTop when there is no history.
func (t *Terminal) FirstLine() uint64 { return 0 }

// ScreenTop returns the number of the main screen's first row: how many lines have scrolled off it. Row y of the main
// screen is line ScreenTop()+y. It falls only when a resize brings lines back onto the screen.
func (t *Terminal) ScreenTop() uint64 { return 0 }

// Line is one line of history or of the main screen.
type Line struct {
	N uint64 // line number
	// Wrapped: the text goes on in line N+1.
	Wrapped bool
	// Cells are the line's cells up to the last that is not the zero Cell. They belong to the Line but resolve in the
	// Terminal, until its next Write or Resize.
	Cells []Cell
}

// ReadLine reads line n of the history or the main screen into dst, reusing its buffer. It reports false, and leaves
// dst alone, when the line is not kept (n < FirstLine) or does not exist yet (n >= ScreenTop plus the rows).
func (t *Terminal) ReadLine(n uint64, dst *Line) bool { return false }

// HistoryBytesUsed returns the memory that the history holds, in bytes.
func (t *Terminal) HistoryBytesUsed() int { return 0 }

// Cursor returns where and how the cursor shows.
func (t *Terminal) Cursor() Cursor { return Cursor{Visible: true} }

// Modes returns the modes that change drawing or input.
func (t *Terminal) Modes() Modes { return Modes{} }

// Title returns the window title: valid UTF-8 without controls, at most maxTitleBytes long.
func (t *Terminal) Title() string { return "" }

// Cwd returns the directory that the program named last (OSC 7), as it was given; "" if never.
func (t *Terminal) Cwd() string { return "" }

// Palette returns the colours that the program changed.
func (t *Terminal) Palette() *Palette { return &Palette{} }

// Row returns row y of the shown screen, 0 <= y < rows.
func (t *Terminal) Row(y int) *Row { return t.screen[y] }

// AppendCell appends the cell's text: nothing for a blank that was never written and for the second half of a wide
// character.
func (t *Terminal) AppendCell(dst []byte, c Cell) []byte { return dst }

// Link returns the cell's hyperlink; zero when it has none.
func (t *Terminal) Link(c Cell) Link { return Link{} }

// UnderlineColor returns the colour of the cell's underline; the default is the text's colour.
func (t *Terminal) UnderlineColor(c Cell) Color { return 0 }

// Style returns the cell's style as a value that means the same in every terminal.
func (t *Terminal) Style(c Cell) Style { return Style{Fg: c.fg, Bg: c.bg, Attrs: c.Attrs()} }

// Palette holds colours that a program changed (OSC 4, 10, 11, 12). A zero Color is unchanged; others are direct.
type Palette struct {
	Foreground, Background, Cursor Color
	Indexed                        [256]Color
	// Changed counts changes: equal counts of one terminal mean equal palettes.
	Changed uint64
}

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
	// What printing touches.
	rows      []*Row // of the shown screen
	cx, cy    int
	pen       Cell // style of what is printed; its ch is 0
	penPlain  bool // the pen is the zero Cell
	pending   bool // the last column was just written: with autowrap the next character wraps first
	joinable  bool // the last thing done was printing: the next code point may join it
	slowPrint bool // insert mode, a charset or a single shift is in use
	autowrap  bool
	graphemes bool
	changed   bool // something visible but the cursor changed since begin
	cols      int
	nrows     int
	top, bot  int // margins, included
	left      int
	right     int
	stamp     uint64 // the version that changes of this Write get
	lastRune  rune   // what REP repeats; 0 is nothing, as behind any other control
	par       parser

	// Modes that Modes reports from these fields.
	origin         bool
	insertMode     bool
	leftRightMode  bool
	reverseWrap    bool
	keyboardLocked bool
	allowColumns   bool // DECCOLM does something
	moreFix        bool // xterm's mode 41: a tab carries out a pending wrap
	nationalSets   bool // DECNRCM
	sizeReports    bool // mode 2048: a resize is told to the program
	isoProtected   bool // SPA was used, since when every erase leaves protected cells; until DECSCA
	rectExtent     bool // DECSACE 2: DECCARA and DECRARA change rectangles, not streams of characters
	kept           keptModes
	cursorVisible  bool
	cursorBlink    bool
	cursorStyle    CursorStyle
	modes          Modes

	charsets    [4]charset
	gl          uint8 // the charset in use
	singleShift uint8 // for the next character: 2 or 3, or 0
	tabs        tabStops
	savedModes  savedModes
	sgrStack    []savedSGR

	scr       *screen // the shown one
	main, alt screen
	hist      history
	tables    tables
	gen       uint64
	nextID    uint64
	scratch   []byte // text of a cluster on its way

	title        string
	titles       []string
	cwd          string
	palette      Palette
	extra        extraColors
	colorStack   []savedColors
	lastProgress Progress
	statuses     statuses
	prompt       prompt
	notes        []openNote

	replies []byte
	events  eventQueue

	version uint64
	shown   visible // as of version

	// work counts what Write does in cells, rows and bytes touched. The tests hold it to the length of the input: an
	// operation that costs more than its bytes and the screen explain shows there.
	work uint64
}

// visible is what version covers besides cells, title and colours.
type visible struct {
	cursor Cursor
	modes  Modes
}

// New returns a terminal in its reset state. It starts nothing.
func New(o Options) *Terminal {
	t := &Terminal{
		cols:    clamp(o.Cols, 1, MaxCols),
		nrows:   clamp(o.Rows, 1, MaxRows),
		tables:  newTables(),
		hist:    newHistory(o),
		version: 1,
		stamp:   1,
	}
	t.main.rows = t.newRows(t.cols, t.nrows)
	t.scr, t.rows = &t.main, t.main.rows
	t.resetState()
	t.shown = visible{t.Cursor(), t.Modes()}
	return t
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }

// begin starts a change of the state, commit ends it: it raises the version if anything visible changed.
func (t *Terminal) begin() {
	t.stamp = t.version + 1
	t.changed = false
}

func (t *Terminal) commit() {
	now := visible{t.Cursor(), t.Modes()}
	if t.changed || now != t.shown {
		t.version = t.stamp
		t.shown = now
	}
}

// resetState sets everything but cells, history and title to its default.
func (t *Terminal) resetState() {
	t.resetMargins()
	t.cx, t.cy = 0, 0
	t.setPen(Cell{})
	t.pending, t.joinable, t.lastRune = false, false, 0
	t.autowrap, t.graphemes = true, true
	t.origin, t.insertMode, t.leftRightMode, t.reverseWrap = false, false, false, false
	t.keyboardLocked, t.allowColumns, t.moreFix, t.nationalSets = false, false, false, false
	t.sizeReports, t.isoProtected, t.rectExtent = false, false, false
	t.kept = keptModes{autorepeat: true}
	t.cursorVisible, t.cursorBlink, t.cursorStyle = true, false, CursorDefault
	t.modes = Modes{AltScroll: true}
	t.charsets, t.gl, t.singleShift = [4]charset{}, 0, 0
	t.updateSlow()
	t.tabs = defaultTabs()
	t.savedModes = savedModes{}
	t.sgrStack = nil
	t.main.saved, t.alt.saved = savedCursor{}, savedCursor{}
	t.main.kitty, t.alt.kitty = kittyStack{}, kittyStack{}
}

// reset is RIS. As in xterm the title stays.
func (t *Terminal) reset() {
	t.scr, t.rows = &t.main, t.main.rows
	t.alt.rows = nil
	t.resetState()
	t.clearRows()
	t.hist.clear()
	t.titles, t.notes, t.prompt = nil, nil, prompt{}
	t.statuses.forget(t, "")
	t.extra, t.colorStack = extraColors{}, nil
	if t.palette != (Palette{Changed: t.palette.Changed}) {
		t.palette = Palette{Changed: t.palette.Changed + 1}
	}
	t.changed = true
}

// softReset is DECSTR: modes and margins, but no cell, no tab stop, not what DECSACE selects (VT510 manual, DECSTR), and
// the cursor stays, with a pending wrap; the saved cursor is home.
func (t *Terminal) softReset() {
	t.resetMargins()
	t.joinable = false
	t.setPen(Cell{})
	t.autowrap, t.graphemes = true, true
	t.origin, t.insertMode, t.leftRightMode, t.reverseWrap = false, false, false, false
	t.keyboardLocked, t.nationalSets, t.isoProtected = false, false, false
	t.cursorVisible, t.cursorStyle, t.cursorBlink = true, CursorDefault, false
	t.modes.AppCursor, t.modes.AppKeypad = false, false
	t.modes.ModifyOtherKeys, t.modes.FormatOtherKeys = 0, false
	t.charsets, t.gl, t.singleShift = [4]charset{}, 0, 0
	t.updateSlow()
	t.scr.kitty = kittyStack{}
	t.scr.saved = savedCursor{pending: t.pending}
}

// Size returns the screen's size in cells.
func (t *Terminal) Size() (cols, rows int) { return t.cols, t.nrows }

// Version grows with each visible change (cells, cursor, modes, title, colours): when it is equal there is nothing to
// draw.
func (t *Terminal) Version() uint64 { return t.version }

// Generation grows when cells were renumbered: copies of cells kept from before no longer resolve.
func (t *Terminal) Generation() uint64 { return t.gen }

// EndSync ends mode 2026. The owner calls it when a program holds drawing for too long, or has ended.
func (t *Terminal) EndSync() {
	t.begin()
	t.modes.Sync = false
	t.commit()
}

// Cursor returns where and how the cursor shows.
func (t *Terminal) Cursor() Cursor {
	return Cursor{
		Col: t.cx, Row: t.cy, Visible: t.cursorVisible, Style: t.cursorStyle, Blink: t.cursorBlink, Pending: t.pending,
	}
}

// Modes returns the modes that change drawing or input.
func (t *Terminal) Modes() Modes {
	m := t.modes
	m.Graphemes, m.Autowrap, m.Origin, m.Insert = t.graphemes, t.autowrap, t.origin, t.insertMode
	m.Alternate = t.scr == &t.alt
	m.KittyFlags = t.scr.kitty.flags()
	return m
}

// Title returns the window title: valid UTF-8 without controls, at most maxTitleBytes long.
func (t *Terminal) Title() string { return t.title }

// Cwd returns the directory that the program named last (OSC 7), as it was given; "" if never.
func (t *Terminal) Cwd() string { return t.cwd }

// Palette returns the colours that the program changed. It is the Terminal's own: read it before the next Write.
func (t *Terminal) Palette() *Palette { return &t.palette }

// Row returns row y of the shown screen, 0 <= y < rows.
func (t *Terminal) Row(y int) *Row { return t.rows[y] }

package vt

// MouseTracking says which mouse events the program asked for.
type MouseTracking uint8

// The kinds of mouse tracking.
const (
	MouseNone   MouseTracking = iota
	MouseX10                  // DEC 9: presses
	MouseNormal               // DEC 1000: presses and releases
	MouseButton               // DEC 1002: and motion with a button held
	MouseAny                  // DEC 1003: and all motion
)

// MouseEncoding says how mouse events are written.
type MouseEncoding uint8

// The mouse encodings.
const (
	MouseDefault   MouseEncoding = iota // CSI M and three bytes
	MouseUTF8                           // DEC 1005
	MouseSGR                            // DEC 1006
	MouseURXVT                          // DEC 1015
	MouseSGRPixels                      // DEC 1016
)

// Modes is what a program set that changes drawing or input. It is comparable.
type Modes struct {
	AppCursor       bool // DEC 1
	ReverseVideo    bool // DEC 5
	AppKeypad       bool // ESC = and DEC 66
	Backarrow       bool // DEC 67: the Backspace key sends BS, not DEL
	AltScroll       bool // DEC 1007
	FocusEvents     bool // DEC 1004
	BracketedPaste  bool // DEC 2004
	Sync            bool // DEC 2026: hold drawing; see [Terminal.EndSync]
	Graphemes       bool // DEC 2027
	Alternate       bool // the alternate screen is shown
	Autowrap        bool // DEC 7
	Origin          bool // DEC 6
	Insert          bool // ANSI 4
	NewLine         bool // ANSI 20: Enter sends CR LF
	Mouse           MouseTracking
	MouseEncoding   MouseEncoding
	KittyFlags      uint8 // kitty keyboard flags of the shown screen
	ModifyOtherKeys uint8 // 0 to 2
	FormatOtherKeys bool  // modified keys as CSI u instead of CSI 27 ~
}

// Names returns the names of what is on, in a fixed order; never nil.
func (m Modes) Names() []string {
	names := []string{}
	add := func(on bool, name string) {
		if on {
			names = append(names, name)
		}
	}
	add(m.AppCursor, "app-cursor")
	add(m.AppKeypad, "app-keypad")
	add(m.Backarrow, "backarrow")
	add(m.ReverseVideo, "reverse-video")
	add(m.Alternate, "alternate")
	add(m.AltScroll, "alt-scroll")
	add(m.FocusEvents, "focus-events")
	add(m.BracketedPaste, "bracketed-paste")
	add(m.Sync, "sync")
	add(m.Graphemes, "graphemes")
	add(m.Autowrap, "autowrap")
	add(m.Origin, "origin")
	add(m.Insert, "insert")
	add(m.NewLine, "newline")
	add(m.Mouse == MouseX10, "mouse-x10")
	add(m.Mouse == MouseNormal, "mouse")
	add(m.Mouse == MouseButton, "mouse-button")
	add(m.Mouse == MouseAny, "mouse-any")
	add(m.MouseEncoding == MouseUTF8, "mouse-utf8")
	add(m.MouseEncoding == MouseSGR, "mouse-sgr")
	add(m.MouseEncoding == MouseURXVT, "mouse-urxvt")
	add(m.MouseEncoding == MouseSGRPixels, "mouse-sgr-pixels")
	add(m.KittyFlags != 0, "kitty-keyboard")
	add(m.ModifyOtherKeys != 0, "modify-other-keys")
	add(m.FormatOtherKeys, "format-other-keys")
	return names
}

// CursorStyle is the cursor's shape.
type CursorStyle uint8

// The cursor shapes. CursorDefault is the user's own choice (DECSCUSR 0).
const (
	CursorDefault CursorStyle = iota
	CursorBlock
	CursorUnderline
	CursorBar
)

// String returns the shape's name.
func (s CursorStyle) String() string {
	switch s {
	case CursorBlock:
		return "block"
	case CursorUnderline:
		return "underline"
	case CursorBar:
		return "bar"
	}
	return "default"
}

// Cursor is where and how the cursor shows.
type Cursor struct {
	Col, Row int // 0-based
	Visible  bool
	Style    CursorStyle
	Blink    bool
	// Pending: the last column was just written; with autowrap the next character goes to the next line.
	Pending bool
}

package client

import (
	"strconv"
	"strings"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
)

// composer makes the frame that the user's terminal should show: the window of the pane that follows the cursor, a dim
// border where the terminal is larger than the session, and the notices over the bottom rows.
type composer struct {
	readOnly bool // set before the first frame

	frame     render.Frame
	blank     *vt.Terminal // shown before the first state
	border    vt.Cell      // beside the session; zero until there is one
	explained borderReason
	x, y      int   // of the window in the pane
	input     shown // of the frame

	predictor *predict.Predictor
	scroll    *scroller

	notices  *notices
	version  uint64       // of the notices in overlay
	overlaid domain.Size  // what overlay is for
	overlay  *vt.Terminal // nil: no notice
}

// compose returns the frame for a terminal of the given size; it is valid until term changes.
func (c *composer) compose(term *vt.Terminal, policy domain.SizePolicy, size domain.Size) *render.Frame {
	attached := term != nil
	if !attached {
		if c.blank == nil {
			c.blank = vt.New(vt.Options{Cols: 1, Rows: 1})
		}
		term = c.blank
	}
	f := &c.frame
	f.SetTerminal(term)
	c.input = shown{modes: f.Modes, cols: f.Cols, rows: f.Rows, brackets: f.Modes.BracketedPaste}
	f.Modes = terminalModes(f.Modes)
	if c.scroll.frame(f, size) {
		c.input = shown{modes: f.Modes, brackets: c.input.brackets}
	} else {
		c.foresee()
		bordered := attached && (f.Cols < size.Cols || f.Rows < size.Rows)
		if bordered && c.border == (vt.Cell{}) {
			c.border = borderCell()
		}
		c.window(term, size)
		c.explain(bordered, policy)
	}
	if c.scroll.captures.Load() {
		f.Modes.Mouse, f.Modes.MouseEncoding = vt.MouseButton, vt.MouseSGR
	}
	f.Modes.FocusEvents = !c.readOnly // the daemon is told, and tells the program
	if c.overlay != nil || c.version != c.notices.version.Load() {
		c.lay(size)
	}
	return f
}

// foresee puts what keys will do over the frame, which is that of the session.
func (c *composer) foresee() {
	for _, r := range c.predictor.Rows() {
		c.frame.SetCells(r.Y, r.Cells, r.Version)
	}
	if col, row, ok := c.predictor.Cursor(); ok {
		c.frame.Cursor.Col, c.frame.Cursor.Row, c.frame.Cursor.Pending = col, row, false
	}
}

// lay puts the notices over the bottom rows of the frame.
func (c *composer) lay(size domain.Size) {
	if c.version != c.notices.version.Load() || c.overlaid != size {
		var lines []string
		lines, c.version = c.notices.lines(size.Cols)
		lines = lines[max(0, len(lines)-size.Rows):]
		c.overlay, c.overlaid = overlay(lines, size.Cols), size
	}
	if c.overlay == nil {
		return
	}
	_, rows := c.overlay.Size()
	top := size.Rows - rows
	for i := range rows {
		c.frame.SetRow(top+i, c.overlay, i)
	}
	if c.frame.Cursor.Row >= top {
		c.frame.Cursor.Visible = false
	}
}

// overlay draws lines in reverse, each cut to cols; nil when there are none.
func overlay(lines []string, cols int) *vt.Terminal {
	if len(lines) == 0 {
		return nil
	}
	t := vt.New(vt.Options{Cols: cols, Rows: len(lines)})
	var b strings.Builder
	b.WriteString("\x1b[?7l\x1b[7m")
	for i, line := range lines {
		b.WriteString("\x1b[" + strconv.Itoa(i+1) + "H " + line + strings.Repeat(" ", cols))
	}
	t.Write([]byte(b.String()))
	return t
}

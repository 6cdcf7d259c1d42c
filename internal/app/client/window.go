package client

import (
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
)

// sideStep is which part of the window's width a window that moves sideways leaves free beside the cursor: moving at
// each key would draw every row anew each time.
const sideStep = 4

// window makes the frame, which is that of the session, the window that follows the cursor, with a border beside and
// below what the session is smaller.
func (c *composer) window(term *vt.Terminal, size domain.Size) {
	f := &c.frame
	if f.Cols == size.Cols && f.Rows == size.Rows {
		c.x, c.y = 0, 0
		return
	}
	if at := f.Cursor; at.Visible || !f.Modes.Alternate {
		// A full-screen program that draws with the cursor hidden has it anywhere; one that prints has it where the output is.
		wide := 0
		if on := term.Cursor(); on.Col == at.Col && term.Row(on.Row).Cells()[on.Col].IsWide() { // at may be a guess
			wide = 1
		}
		c.x = follow(c.x, at.Col, at.Col+wide, size.Cols, size.Cols/sideStep)
		c.y = follow(c.y, at.Row, at.Row, size.Rows, 0)
	}
	c.x, c.y = within(c.x, size.Cols, f.Cols), within(c.y, size.Rows, f.Rows)
	f.Window(c.x, c.y, size.Cols, size.Rows, c.border)
	c.input.x, c.input.y = c.x, c.y
}

// follow moves a window of length visible, that begins at from, if it does not show all of first to last: as little as
// that takes, and by step more.
func follow(from, first, last, visible, step int) int {
	switch {
	case first < from:
		return first - step
	case last >= from+visible:
		return min(last-visible+1+step, first)
	}
	return from
}

// within moves a window of length visible into what it is a window of, of length all.
func within(from, visible, all int) int { return max(0, min(from, all-visible)) }

// borderCell is what is beside a session: no terminal has another width for it.
func borderCell() vt.Cell {
	t := vt.New(vt.Options{Cols: 1, Rows: 1})
	_, _ = t.Write([]byte("\x1b[2m."))
	return t.Row(0).Cells()[0]
}

// borderReason is what decides about the explanation of a border; the zero value is no border.
type borderReason struct {
	size   domain.Size // of the session
	policy domain.SizePolicy
}

// explain has the notices say why there is a border, if there is one.
func (c *composer) explain(bordered bool, policy domain.SizePolicy) {
	now := borderReason{}
	if bordered {
		now = borderReason{domain.Size{Cols: c.input.cols, Rows: c.input.rows}, policy}
	}
	if now == c.explained {
		return
	}
	c.explained = now
	why := ""
	if bordered {
		why = sizeReason(policy, now.size, c.readOnly)
	}
	c.notices.border(why, policy)
}

// sizeReason says why a session has the size it has, to the user of a larger terminal.
func sizeReason(policy domain.SizePolicy, size domain.Size, readOnly bool) string {
	what := "the session is " + size.String()
	switch policy {
	case domain.SizeSmallest:
		return what + ", as its smallest client"
	case domain.SizeLargest:
		return what + ", as its largest client"
	case domain.SizeFixed:
		return what + ", fixed: vev resize changes it"
	}
	if readOnly {
		return what + ", as the client used last"
	}
	return what + ", as the client used last: type to fit it here"
}

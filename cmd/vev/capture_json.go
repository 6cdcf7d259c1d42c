package main

import (
	"fmt"
	"strconv"

	"github.com/vev-term/vev/internal/protocol"
)

type screenJSON struct {
	Cols      int        `json:"cols"`
	Rows      int        `json:"rows"`
	Cursor    cursorJSON `json:"cursor"`
	Alternate bool       `json:"alternate"`
	Title     string     `json:"title"`
	Cwd       string     `json:"cwd"`
	Modes     []string   `json:"modes"`
	FirstLine uint64     `json:"first_line"`
	Lines     []lineJSON `json:"lines"`
}

type cursorJSON struct {
	Row     int    `json:"row"`
	Col     int    `json:"col"`
	Visible bool   `json:"visible"`
	Style   string `json:"style"`
}

type lineJSON struct {
	N       uint64    `json:"n"`
	Text    string    `json:"text"`
	Wrapped bool      `json:"wrapped"`
	Runs    []runJSON `json:"runs"`
}

// runJSON leaves out what is the default.
type runJSON struct {
	Col       int      `json:"col"`
	Len       int      `json:"len"`
	Fg        any      `json:"fg,omitempty"` // "#rrggbb" or a palette number
	Bg        any      `json:"bg,omitempty"`
	Underline string   `json:"underline,omitempty"`
	Attrs     []string `json:"attrs,omitempty"`
	Link      string   `json:"link,omitempty"`
}

func captureJSON(s *protocol.Captured) screenJSON {
	out := screenJSON{
		Cols: s.Size.Cols, Rows: s.Size.Rows,
		Cursor:    cursorJSON{Row: s.CursorRow, Col: s.CursorCol, Visible: s.Visible, Style: s.CursorStyle},
		Alternate: s.Alternate, Title: s.Title, Cwd: s.Cwd, Modes: append([]string{}, s.Modes...),
		FirstLine: s.Lines.First, Lines: make([]lineJSON, 0, len(s.Lines.List)),
	}
	for _, line := range s.Lines.List {
		j := lineJSON{N: line.N, Text: line.Text, Wrapped: line.Wrapped, Runs: make([]runJSON, 0, len(line.Runs))}
		for _, run := range line.Runs {
			j.Runs = append(j.Runs, runJSON{
				Col: run.Col, Len: run.Len, Fg: colorJSON(run.Fg), Bg: colorJSON(run.Bg),
				Underline: underlineName(run.Underline), Attrs: attrNames(run.Attrs), Link: run.Link,
			})
		}
		out.Lines = append(out.Lines, j)
	}
	return out
}

// Colours as protocol.Run has them: a tag above 24 bits.
const (
	colorPalette = 1
	colorDirect  = 2
)

func colorJSON(c uint32) any {
	switch c >> 24 {
	case colorPalette:
		return int(c & 0xff)
	case colorDirect:
		return fmt.Sprintf("#%06x", c&0xffffff)
	}
	return nil
}

func underlineName(u uint8) string {
	switch u {
	case 0:
		return ""
	case 1:
		return "single"
	case 2:
		return "double"
	case 3:
		return "curly"
	case 4:
		return "dotted"
	case 5:
		return "dashed"
	}
	return strconv.Itoa(int(u))
}

// attributes in the order of their bits, with the SGR parameter that sets each.
var attributes = [...]struct {
	attr protocol.RunAttrs
	name string
	sgr  int
}{
	{protocol.AttrBold, "bold", 1},
	{protocol.AttrDim, "dim", 2},
	{protocol.AttrItalic, "italic", 3},
	{protocol.AttrBlink, "blink", 5},
	{protocol.AttrInverse, "inverse", 7},
	{protocol.AttrHidden, "hidden", 8},
	{protocol.AttrStrike, "strike", 9},
	{protocol.AttrOverline, "overline", 53},
}

func attrNames(attrs protocol.RunAttrs) []string {
	var names []string
	for _, a := range attributes {
		if attrs&a.attr != 0 {
			names = append(names, a.name)
		}
	}
	return names
}

package client

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// Screen is what a session shows. Rows and columns count from 1.
type Screen struct {
	Cols      int      `json:"cols"`
	Rows      int      `json:"rows"`
	Cursor    Cursor   `json:"cursor"`
	Alternate bool     `json:"alternate"` // the alternate screen, as full-screen programs use it
	Title     string   `json:"title"`
	Cwd       string   `json:"cwd"`
	Modes     []string `json:"modes"`
	FirstLine uint64   `json:"first_line"` // number of the first of Lines
	Lines     []Line   `json:"lines"`      // history that was asked for, then the screen's rows
}

// Cursor is where the next character goes.
type Cursor struct {
	Row     int    `json:"row"`
	Col     int    `json:"col"`
	Visible bool   `json:"visible"`
	Style   string `json:"style"`
}

// Line is one row.
type Line struct {
	N       uint64 `json:"n"` // stays the same as the line scrolls off
	Text    string `json:"text"`
	Wrapped bool   `json:"wrapped"` // goes on in the next line
	Runs    []Run  `json:"runs"`
}

// Run is a stretch of cells whose style is not the default. It leaves out what is.
type Run struct {
	Col       int      `json:"col"`
	Len       int      `json:"len"`
	Fg        any      `json:"fg,omitempty"` // "#rrggbb", or the number of a palette entry as an int
	Bg        any      `json:"bg,omitempty"`
	Underline string   `json:"underline,omitempty"` // single, double, curly, dotted or dashed
	Attrs     []string `json:"attrs,omitempty"`
	Link      string   `json:"link,omitempty"`
}

// Text is the lines, one each, trailing blanks cut.
func (s *Screen) Text() string {
	var b strings.Builder
	for _, line := range s.Lines {
		b.WriteString(line.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// Capture returns the screen, and up to history lines that scrolled off above it. Exited sessions stay listed: only
// attaching counts as looking at one.
func (s *Session) Capture(ctx context.Context, history int) (*Screen, error) {
	if history < 0 {
		return nil, usage("history is 0 or more lines")
	}
	var screen *Screen
	err := s.with(ctx, func(t *talk.Talk) error {
		captured, err := t.Capture(s.at.Name, history)
		if err == nil {
			screen = screenOf(captured)
		}
		return err
	})
	return screen, err
}

func screenOf(s *protocol.Captured) *Screen {
	out := &Screen{
		Cols: s.Size.Cols, Rows: s.Size.Rows,
		Cursor:    Cursor{Row: s.CursorRow, Col: s.CursorCol, Visible: s.Visible, Style: s.CursorStyle},
		Alternate: s.Alternate, Title: s.Title, Cwd: s.Cwd, Modes: append([]string{}, s.Modes...),
		FirstLine: s.Lines.First, Lines: make([]Line, 0, len(s.Lines.List)),
	}
	for _, line := range s.Lines.List {
		l := Line{N: line.N, Text: line.Text, Wrapped: line.Wrapped, Runs: make([]Run, 0, len(line.Runs))}
		for _, run := range line.Runs {
			l.Runs = append(l.Runs, Run{
				Col: run.Col, Len: run.Len, Fg: color(run.Fg), Bg: color(run.Bg),
				Underline: underline(run.Underline), Attrs: attributes(run.Attrs), Link: run.Link,
			})
		}
		out.Lines = append(out.Lines, l)
	}
	return out
}

// Colours as protocol.Run has them: a tag above 24 bits.
const (
	colorPalette = 1
	colorDirect  = 2
)

func color(c uint32) any {
	switch c >> 24 {
	case colorPalette:
		return int(c & 0xff)
	case colorDirect:
		return fmt.Sprintf("#%06x", c&0xffffff)
	}
	return nil
}

func underline(u uint8) string {
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

func attributes(attrs protocol.RunAttrs) []string {
	var names []string
	for _, a := range protocol.RunAttributes {
		if attrs&a.Attr != 0 {
			names = append(names, a.Name)
		}
	}
	return names
}

package ptytest

import (
	"strings"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
)

// Screen is what a person sees at one moment. It does not change any more.
type Screen struct {
	Lines  []string // one a row, without blanks at the end
	Cursor vt.Cursor
	Modes  vt.Modes
	Title  string
	Size   domain.Size
}

// String returns the lines down to the last that is not blank.
func (s Screen) String() string {
	return strings.TrimRight(strings.Join(s.Lines, "\n"), "\n")
}

// Contains reports whether text is on one of the lines.
func (s Screen) Contains(text string) bool { return s.LineWith(text) >= 0 }

// LineWith returns the number of the last line that holds text, or -1.
func (s Screen) LineWith(text string) int {
	for i := len(s.Lines) - 1; i >= 0; i-- {
		if strings.Contains(s.Lines[i], text) {
			return i
		}
	}
	return -1
}

// take copies what the engine shows.
func take(e *vt.Terminal) Screen {
	cols, rows := e.Size()
	s := Screen{Cursor: e.Cursor(), Modes: e.Modes(), Title: e.Title(), Size: domain.Size{Cols: cols, Rows: rows}}
	var line []byte
	for y := range rows {
		line = line[:0]
		for _, c := range e.Row(y).Cells() {
			text := len(line)
			if line = e.AppendCell(line, c); len(line) == text && !c.IsSpacer() {
				line = append(line, ' ')
			}
		}
		s.Lines = append(s.Lines, strings.TrimRight(string(line), " "))
	}
	return s
}

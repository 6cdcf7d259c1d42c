package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// rendition is a set of attributes that every voice knows.
type rendition uint8

const (
	bold rendition = 1 << iota
	dim
	italic
	blink
	inverse
	hidden
	strike
)

// spacer is the base of a wide character's second column, as xterm has it.
const spacer rune = 0xffff

// cell is one column as all voices can tell it.
type cell struct {
	// base is the first code point, ' ' for a blank or hidden one.
	base      rune
	attrs     rendition
	underline uint8 // as SGR 4:n; xterm knows 0 to 2
	fg, bg    string
	extra     string // what xterm does not know or tell: marks, underline colour, overline, link
}

// screen is what a voice shows at the end of a session.
type screen struct {
	rows    [][]cell
	x, y    int
	pending bool
	// replies holds the answers to the questions in the input, and to finalQuestions.
	replies string
	title   string
	history []line
	wrapped []bool // of each row: its text goes on in the next
}

// line is one line of the history.
type line struct {
	text    string
	wrapped bool
}

// aspects are the parts of a screen in which two voices are compared; a voice cannot tell all.
type aspects struct {
	pending, replies, extra, title bool
	// reflow: only the lines as the program wrote them, history included, are compared.
	reflow bool
}

// difference says where two screens differ first, "" where they do not.
func (a *screen) difference(b *screen, as aspects) string {
	if as.reflow {
		if p, q := a.paragraphs(), b.paragraphs(); p != q {
			return fmt.Sprintf("lines: %q or %q", p, q)
		}
		return ""
	}
	for y := range a.rows {
		for x := range a.rows[y] {
			p, q := a.rows[y][x], b.rows[y][x]
			if p, q = p.visible(as), q.visible(as); p != q {
				return fmt.Sprintf("cell %d,%d: %s or %s", x, y, p, q)
			}
		}
	}
	switch {
	case a.x != b.x || a.y != b.y:
		return fmt.Sprintf("cursor: %d,%d or %d,%d", a.x, a.y, b.x, b.y)
	case as.pending && a.pending != b.pending:
		return fmt.Sprintf("pending wrap: %v or %v", a.pending, b.pending)
	case as.replies && a.replies != b.replies:
		return fmt.Sprintf("replies: %q or %q", a.replies, b.replies)
	case as.title && a.title != b.title:
		return fmt.Sprintf("title: %q or %q", a.title, b.title)
	}
	return ""
}

var underlineColor = regexp.MustCompile(` underline=[#0-9a-f]*`)

// visible is what can be seen of a cell: a blank has no foreground unless something shows it.
func (c cell) visible(as aspects) cell {
	if c.base == ' ' && c.attrs&(inverse|strike) == 0 && c.underline == 0 {
		c.fg = ""
	}
	switch {
	case !as.extra:
		c.extra = ""
	case c.underline == 0: // xterm.js tells no colour then
		c.extra = underlineColor.ReplaceAllString(c.extra, "")
	}
	return c
}

func (c cell) String() string {
	var b strings.Builder
	if c.base == spacer {
		b.WriteString("spacer")
	} else {
		fmt.Fprintf(&b, "%q", c.base)
	}
	for i, name := range []string{"bold", "dim", "italic", "blink", "inverse", "hidden", "strike"} {
		if c.attrs&(1<<i) != 0 {
			b.WriteString(" " + name)
		}
	}
	for _, part := range []struct{ name, value string }{{"fg", c.fg}, {"bg", c.bg}, {"with", c.extra}} {
		if part.value != "" {
			b.WriteString(" " + part.name + " " + part.value)
		}
	}
	if c.underline != 0 {
		fmt.Fprintf(&b, " underline %d", c.underline)
	}
	return b.String()
}

// String is the text of the screen, the cursor and the answers.
func (s *screen) String() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString("\t|")
		for _, c := range row {
			if c.base != spacer {
				b.WriteRune(c.base)
			}
		}
		b.WriteString("|\n")
	}
	fmt.Fprintf(&b, "\tcursor %d,%d pending %v replies %q\n", s.x, s.y, s.pending, s.replies)
	return b.String()
}

// paragraphs is all text with wrapped lines joined, without its blanks: at the end of a wrapped line they cannot be told
// from cells that were never written.
func (s *screen) paragraphs() string {
	var b strings.Builder
	add := func(text string, wrapped bool) {
		b.WriteString(strings.ReplaceAll(text, " ", ""))
		if !wrapped {
			b.WriteByte('\n')
		}
	}
	for _, l := range s.history {
		add(l.text, l.wrapped)
	}
	for y, row := range s.rows {
		var text []rune
		for _, c := range row {
			if c.base != spacer {
				text = append(text, c.base)
			}
		}
		add(string(text), s.wrapped[y])
	}
	return strings.TrimRight(b.String(), "\n")
}

// baseOf splits a cell's text.
func baseOf(text string) (base rune, marks string) {
	if text == "" {
		return ' ', ""
	}
	r, n := utf8.DecodeRuneInString(text)
	return r, text[n:]
}

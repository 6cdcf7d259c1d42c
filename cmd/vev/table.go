package main

import (
	"io"
	"strings"
	"unicode"

	"github.com/clipperhouse/displaywidth"
)

// maxCellColumns is where a table's cell is cut, so that one long title or command line does
// not push the rest of its row away.
const maxCellColumns = 60

// writeTable writes a whole table.
func writeTable(w io.Writer, rows [][]string) error {
	return (&table{to: w}).write(rows)
}

// table is written in columns aligned by display width, two blanks between, none at the end of a line. Cells are made printable
// first: what programs said is data.
type table struct {
	to     io.Writer
	widths []int // of the columns; what comes later is not narrower
}

// write writes the next rows.
func (t *table) write(rows [][]string) error {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = shorten(printable(cell), maxCellColumns)
			if i == len(t.widths) {
				t.widths = append(t.widths, 0)
			}
			t.widths[i] = max(t.widths[i], columns(row[i]))
		}
	}
	var line strings.Builder
	for _, row := range rows {
		line.Reset()
		for i, cell := range row {
			line.WriteString(cell)
			for range t.widths[i] - columns(cell) + 2 {
				line.WriteByte(' ')
			}
		}
		if _, err := io.WriteString(t.to, strings.TrimRight(line.String(), " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// columns is the width of s on a terminal. Nearly all cells are plain ASCII, which needs no table.
func columns(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return displaywidth.String(s)
}

// isPlain reports whether s is ASCII that a terminal shows as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// printable replaces what would move the cursor or turn the line's direction by blanks.
func printable(s string) string {
	if isPlain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r) ||
			r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// shorten cuts s to most columns, its last one an ellipsis then.
func shorten(s string, most int) string {
	if columns(s) <= most {
		return s
	}
	return displaywidth.TruncateString(s, most, "…")
}

// commandText is a command line as a shell would take it, for reading only.
func commandText(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		words[i] = quote(arg)
	}
	return strings.Join(words, " ")
}

func quote(arg string) string {
	plain := arg != "" && strings.IndexFunc(arg, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:=@%+,", r)
	}) < 0
	if plain {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

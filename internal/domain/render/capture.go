package render

import "github.com/vev-term/vev/internal/domain/vt"

// AppendText appends the plain text of a line of t: blanks as spaces, trailing blanks cut, no line end.
func AppendText(dst []byte, t *vt.Terminal, line *vt.Line) []byte { return dst }

// AppendANSI appends a line of t with its styles (SGR and OSC 8): it starts from default style and ends in it, blanks
// at the end are cut unless they show a background, no line end.
func AppendANSI(dst []byte, t *vt.Terminal, line *vt.Line) []byte { return dst }

// Run is a stretch of cells of one style.
type Run struct {
	Col   int // 1-based
	Len   int // in columns
	Style vt.Style
}

// Runs returns the stretches of a line that are not in default style, in order.
func Runs(t *vt.Terminal, line *vt.Line) []Run { return nil }

package shell

import (
	"bytes"
	"regexp"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
)

// Text makes plain text of a command's output: what its terminal showed, without styles, with lines as the
// program broke them. Memory is bounded; what has left the screen is handed on.
type Text struct {
	term *vt.Terminal
	next uint64 // line that comes next
	tail []byte // of the output, that zsh's mark may be in
}

const (
	// textSlice is how much is drawn before lines are taken, so that none leaves the history unseen.
	textSlice   = 16 << 10
	textHistory = 20_000
	maxTail     = 2 << 10
)

// NewText returns a Text for output that was made for a terminal of a size.
func NewText(size domain.Size) *Text {
	return &Text{term: vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows, HistoryLines: textHistory})}
}

// Write takes the next output and appends the lines that are final now to dst.
func (t *Text) Write(dst, p []byte) []byte {
	p = append(t.tail, p...)
	keep := min(len(p), maxTail)
	t.tail = bytes.Clone(p[len(p)-keep:])
	return t.draw(dst, p[:len(p)-keep])
}

func (t *Text) draw(dst, p []byte) []byte {
	for len(p) > 0 {
		n := min(len(p), textSlice)
		_, _ = t.term.Write(p[:n])
		t.term.TakeReplies()
		t.term.TakeEvents()
		dst = t.lines(dst, t.term.ScreenTop())
		p = p[n:]
	}
	return dst
}

// partial finds what zsh prints before its prompt where a command left the cursor within a line (PROMPT_SP): a mark,
// blanks to the end of the line and back. It is compiled for each command's end, not for each process that starts.
func partial(rest []byte) []int {
	return regexp.MustCompile(`(\x1b\[[0-9;]*m)*[%#](\x1b\[[0-9;]*m)* +\r ?\r?(\x1b\[[0-9;]*[mK])*$`).FindIndex(rest)
}

// End appends what is left.
func (t *Text) End(dst []byte) []byte {
	rest := t.tail
	t.tail = nil
	if at := partial(rest); at != nil {
		rest = rest[:at[0]]
	}
	dst = t.draw(dst, rest)
	_, rows := t.term.Size()
	used := rows
	for used > 0 && t.term.Row(used-1).Used() == 0 {
		used--
	}
	top := t.term.ScreenTop()
	before := len(dst)
	dst = t.lines(dst, top+uint64(used))
	cursor := t.term.Cursor()
	if len(dst) > before && cursor.Row == used-1 && (cursor.Col > 0 || cursor.Pending) {
		dst = dst[:len(dst)-1] // the last line has no end
	}
	for range max(0, cursor.Row-used) {
		dst = append(dst, '\n')
	}
	return dst
}

// lines appends the lines up to end, those that a soft wrap broke as one.
func (t *Text) lines(dst []byte, end uint64) []byte {
	var line vt.Line
	for ; t.next < end; t.next++ {
		if !t.term.ReadLine(t.next, &line) {
			continue
		}
		if line.Wrapped {
			dst = render.AppendCells(dst, t.term, line.Cells)
			continue
		}
		dst = append(render.AppendText(dst, t.term, &line), '\n')
	}
	return dst
}

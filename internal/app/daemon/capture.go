package daemon

import (
	"context"
	"regexp"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// scanInterval is how often a wait for text looks at a session that floods.
const scanInterval = 10 * time.Millisecond

// capture is the screen now, and above it as much history as one result may hold.
func (s *session) capture(b *protocol.Capture) *protocol.Captured {
	s.mu.Lock()
	defer s.mu.Unlock()
	cursor, modes := s.term.Cursor(), s.term.Modes()
	c := &protocol.Captured{
		Size: s.size, CursorCol: cursor.Col + 1, CursorRow: cursor.Row + 1, Visible: cursor.Visible,
		CursorStyle: cursor.Style.String(), Alternate: modes.Alternate,
		Title: clip(s.term.Title(), protocol.MaxTextBytes), Cwd: clip(s.term.Cwd(), protocol.MaxTextBytes),
		Modes: modes.Names(),
	}
	if s.finished {
		c.State, c.Exit = domain.Exited, s.exit
	}
	top := s.term.ScreenTop()
	first := top
	if n := uint64(min(b.HistoryLines, protocol.MaxHistoryLines)); n > 0 {
		first = max(s.term.FirstLine(), top-min(n, top))
	}
	c.Lines.First = first
	c.Lines.More = b.HistoryLines > protocol.MaxHistoryLines && first > s.term.FirstLine()
	s.readLines(&c.Lines, first, top)
	s.readScreen(&c.Lines)
	return c
}

// history is lines by number.
func (s *session) history(b *protocol.History) (*protocol.Lines, error) {
	if b.Pane != 0 && b.Pane != mainPane {
		return nil, noPane(b.Pane)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.term.ScreenTop() + uint64(s.size.Rows)
	first := min(max(b.First, s.term.FirstLine()), end)
	last := min(first+uint64(max(b.Count, 0)), end)
	lines := &protocol.Lines{First: first}
	if last-first > protocol.MaxHistoryLines {
		last, lines.More = first+protocol.MaxHistoryLines, true
	}
	s.readLines(lines, first, last)
	s.fillWrapped(lines)
	return lines, nil
}

// cut shortens an answer to about limit bytes, one line at the least.
func cut(lines *protocol.Lines, limit int) {
	const lineBytes, runBytes = 16, 16 // of the encoding, about
	bytes := 0
	for i := range lines.List {
		bytes += len(lines.List[i].Text) + lineBytes + runBytes*len(lines.List[i].Runs)
		if bytes > limit && i > 0 {
			lines.List, lines.More = lines.List[:i], true
			return
		}
	}
}

// fillWrapped gives lines that go on in the next their trailing blanks back, so that they can be joined.
func (s *session) fillWrapped(lines *protocol.Lines) {
	var line vt.Line
	for i := range lines.List {
		if l := &lines.List[i]; l.Wrapped && s.term.ReadLine(l.N, &line) {
			l.Text = clip(string(render.AppendCells(nil, s.term, line.Cells)), protocol.MaxLineBytes)
		}
	}
}

// readLines appends lines [first, last) of the main screen and its history.
func (s *session) readLines(lines *protocol.Lines, first, last uint64) {
	var line vt.Line
	for n := first; n < last; n++ {
		if s.term.ReadLine(n, &line) {
			lines.List = append(lines.List, s.line(&line))
		}
	}
}

// readScreen appends the rows that show, of whichever screen.
func (s *session) readScreen(lines *protocol.Lines) {
	for y := range s.size.Rows {
		line := s.shown(y)
		lines.List = append(lines.List, s.line(&line))
	}
}

// shown is row y of the screen that shows, as a line.
func (s *session) shown(y int) vt.Line {
	row := s.term.Row(y)
	return vt.Line{N: s.term.ScreenTop() + uint64(y), Wrapped: row.Wrapped(), Cells: row.Cells()[:row.Used()]}
}

func (s *session) line(l *vt.Line) protocol.Line {
	out := protocol.Line{N: l.N, Wrapped: l.Wrapped, Text: clip(string(render.AppendText(nil, s.term, l)), protocol.MaxLineBytes)}
	for _, r := range render.Runs(s.term, l) {
		out.Runs = append(out.Runs, protocol.Run{
			Col: r.Col, Len: r.Len, Fg: uint32(r.Style.Fg), Bg: uint32(r.Style.Bg),
			UnderlineColor: uint32(r.Style.Underline), Underline: uint8(r.Style.Attrs.Underline()),
			Attrs: runAttrs(r.Style.Attrs), Link: clip(r.Style.Link.URI, protocol.MaxTextBytes),
		})
	}
	return out
}

// runAttrs are the renditions but the underline, which a Run has by itself.
func runAttrs(a vt.Attrs) protocol.RunAttrs {
	var out protocol.RunAttrs
	for _, p := range [...]struct {
		from vt.Attrs
		to   protocol.RunAttrs
	}{
		{vt.Bold, protocol.AttrBold},
		{vt.Dim, protocol.AttrDim},
		{vt.Italic, protocol.AttrItalic},
		{vt.Blink, protocol.AttrBlink},
		{vt.Inverse, protocol.AttrInverse},
		{vt.Hidden, protocol.AttrHidden},
		{vt.Strike, protocol.AttrStrike},
		{vt.Overline, protocol.AttrOverline},
	} {
		if a&p.from != 0 {
			out |= p.to
		}
	}
	return out
}

// awaitText waits until a line of the screen, or one that has passed since, matches. Soft
// wraps are joined. Lines that had left the screen before the wait began do not count.
func (s *session) awaitText(ctx context.Context, re *regexp.Regexp) (*protocol.WaitResult, error) {
	changes, release := s.watch()
	defer release()
	timer := time.NewTimer(0)
	defer timer.Stop()
	s.mu.Lock()
	next := s.term.ScreenTop()
	s.mu.Unlock()
	for {
		s.mu.Lock()
		match, found := s.search(re, next)
		next = max(next, s.term.ScreenTop())
		finished := s.finished
		s.mu.Unlock()
		if found {
			return &protocol.WaitResult{Met: true, Match: match}, nil
		}
		if finished {
			return nil, fault.New(fault.Conflict, "the program ended and the text did not come").
				WithHint("vev capture shows its last screen")
		}
		select {
		case <-ctx.Done():
			return nil, waited(ctx)
		case <-changes:
		}
		timer.Reset(scanInterval)
		select {
		case <-ctx.Done():
			return nil, waited(ctx)
		case <-timer.C:
		case <-s.ended:
		}
	}
}

// search looks for re in the lines from first on, and on the screen that shows. The caller
// holds mu.
func (s *session) search(re *regexp.Regexp, first uint64) (string, bool) {
	var text []byte
	test := func(l *vt.Line) (string, bool) {
		text = render.AppendText(text, s.term, l)
		if l.Wrapped {
			return "", false
		}
		found := re.Match(text)
		match := clip(string(text), protocol.MaxLineBytes)
		text = text[:0]
		return match, found
	}
	var line vt.Line
	for n := max(first, s.term.FirstLine()); n < s.term.ScreenTop(); n++ {
		if s.term.ReadLine(n, &line) {
			if match, found := test(&line); found {
				return match, true
			}
		}
	}
	for y := range s.size.Rows {
		line := s.shown(y)
		line.Wrapped = line.Wrapped && y < s.size.Rows-1
		if match, found := test(&line); found {
			return match, true
		}
	}
	return "", false
}

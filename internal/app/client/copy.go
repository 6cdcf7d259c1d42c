package client

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// maxCopyLines bounds what one copy may fetch and join; more is refused with a word.
	maxCopyLines = 50_000
	// copyTimeout bounds the user's copy command.
	copyTimeout = 10 * time.Second
)

// copying is a copy that waits for lines which are not here yet.
type copying struct {
	on    bool
	leave bool // the mode, when it is done
}

// copy copies the selection; leave ends the mode with it.
func (s *scroller) copy(leave bool) {
	from, to := s.wholeLines()
	if to-from >= maxCopyLines {
		s.note = fmt.Sprintf("%d lines are selected, at most %d can be copied", to-from+1, maxCopyLines)
		return
	}
	if missing := trim(from, to+1, s.cache.keeps); missing.count > 0 && s.lacks(missing) {
		s.fetch.copying = copying{on: true, leave: leave}
		s.note = "copying ..."
		if !s.fetch.busy {
			missing.count = min(missing.count, protocol.MaxHistoryLines)
			s.request(missing)
		}
		return
	}
	s.give(s.text(from, to), leave)
}

// lacks reports whether lines of a span can still come.
func (s *scroller) lacks(want span) bool {
	end := s.end()
	if s.snapAlt {
		end = s.snapTop
	}
	return want.first >= s.live.first && want.first < end && want != s.fetch.last
}

// resumeCopy goes on with a copy when lines have come.
func (s *scroller) resumeCopy() {
	if c := s.fetch.copying; c.on {
		s.fetch.copying = copying{}
		if s.on && s.sel.kind != selNone {
			s.copy(c.leave)
		}
	}
}

// wholeLines are the first and last line that the selection touches; of whole lines, with what a soft wrap broke off.
func (s *scroller) wholeLines() (from, to uint64) {
	a, b := s.bounds()
	from, to = a.line, b.line
	if s.sel.kind == selLines {
		for i := 0; i < maxJoined && from > s.live.first && s.look(from-1).wrapped; i++ {
			from--
		}
		for i := 0; i < maxJoined && to+1 < s.end() && s.look(to).wrapped; i++ {
			to++
		}
	}
	return from, to
}

// text is what is selected in lines from to to: rows that a soft wrap broke are joined, blanks at ends of lines left
// out, and a character of which a column is selected is in it as a whole.
func (s *scroller) text(from, to uint64) []byte {
	var out []byte
	begin := 0
	for n := from; n <= to; n++ {
		l := s.look(n)
		a, b := s.selected(n)
		if s.sel.kind == selLines {
			a, b = 0, 1<<30
		}
		for _, g := range l.gl {
			if g.col+g.width > a && g.col < b {
				out = append(out, l.text[g.from:g.to]...)
			}
		}
		if l.wrapped && n < to && s.sel.kind != selBlock {
			continue
		}
		whole := n < to || s.sel.kind != selChars
		if whole || b >= width(l.gl) {
			out = append(out[:begin], bytes.TrimRight(out[begin:], " ")...)
		}
		if n < to || s.sel.kind == selLines {
			out = append(out, '\n')
		}
		begin = len(out)
	}
	return out
}

// give hands text to the user's clipboard.
func (s *scroller) give(text []byte, leave bool) {
	if len(text) > protocol.MaxClipboardBytes {
		s.note = fmt.Sprintf("%d bytes are selected, at most %d can be copied", len(text), protocol.MaxClipboardBytes)
		return
	}
	s.sel = selection{}
	if len(text) > 0 {
		select {
		case <-s.out: // an older copy that nobody took
		default:
		}
		s.out <- text
	}
	s.note = fmt.Sprintf("copied %d characters", len([]rune(string(text))))
	if leave {
		s.leave()
	}
}

// copied gives text to the terminal's clipboard (OSC 52) and to the user's command.
func (c *client) copied(ctx context.Context, text []byte) error {
	c.notices.say("copied %d characters", len([]rune(string(text))))
	if c.o.Copier != nil {
		c.spawn(func() {
			ctx, cancel := context.WithTimeout(ctx, copyTimeout)
			defer cancel()
			if err := c.o.Copier.Copy(ctx, text); err != nil && ctx.Err() != context.Canceled {
				c.notices.say("%s", fault.Clean(err.Error()))
			}
		})
	}
	return c.screen.send(appendEvent(nil, protocol.Clipboard{Selection: "c", Data: text}, c.o.Capabilities))
}

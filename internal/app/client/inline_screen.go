package client

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// restTimeout bounds the wait for the last lines of a session that has ended.
const restTimeout = 3 * time.Second

// paintInline paints the frame and adds the lines that have come to the terminal's history. The caller has the turn.
func (s *screen) paintInline() {
	h := s.inline
	h.see(&s.view, s.composer.y, s.size, func(gen int, began time.Time, m *protocol.Result) {
		s.take()
		defer s.give()
		h.follow(&s.view)
		h.answered(gen, began, m)
		s.failed(s.paint())
	})
	f := &s.composer.frame
	s.buf = s.painter.Paint(s.buf, f)
	if len(h.come) == 0 || f.Modes.Alternate {
		return
	}
	if !s.caps.Basic {
		s.buf = append(s.buf, "\x1b[?2026h"...)
	}
	s.buf = s.painter.Paint(h.write(s.buf, s.painter), f)
	if !s.caps.Basic {
		s.buf = append(s.buf, "\x1b[?2026l"...)
	}
}

// lastInline shows the session as it is to stay when the client has left: without what the client put over it, and
// with all lines above it, or the word that some are missing.
func (s *screen) lastInline() {
	h := s.inline
	if !h.begun || h.alt {
		return
	}
	h.failed = true
	h.lack(h.top)
	s.composer.plain(s.view.term, s.size)
	s.paintInline()
}

// plain makes the frame that shows the session and nothing of the client's.
func (c *composer) plain(term *vt.Terminal, size domain.Size) {
	c.frame.SetTerminal(term)
	c.frame.Modes = terminalModes(c.frame.Modes)
	c.border = vt.Cell{}
	c.window(term, size)
}

// drain waits until the terminal's history has what has left the screen, for at most byeGrace.
func (s *screen) drain() {
	if s.inline == nil {
		return
	}
	select {
	case s.turn <- struct{}{}:
	default:
		return // somebody draws: a terminal that takes nothing is not waited for
	}
	done := s.inline.drained()
	s.give()
	if done != nil {
		await(done, byeGrace)
	}
}

// rest fetches the lines that the terminal's history lacks when the attachment has ended, on a conversation of its own:
// until the end is confirmed the daemon has them.
func (l *link) rest(ctx context.Context) {
	want := l.screen.lacking()
	if want.count == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	conn, err := l.o.Dialer.Dial(ctx)
	if err != nil {
		return
	}
	answered, closed := make(chan struct{}), make(chan struct{})
	l.spawn(func() {
		defer close(closed)
		select {
		case <-ctx.Done():
		case <-answered:
		}
		conn.Close()
	})
	l.fetchRest(conn, want)
	close(answered)
	<-closed
}

func (l *link) fetchRest(conn ports.SessionClientConn, want span) {
	for id := uint64(1); want.count > 0; id++ {
		if conn.Send(&protocol.Request{ID: id, Body: l.screen.inline.request(want)}) != nil {
			return
		}
		m, err := conn.Receive()
		result, ok := m.(*protocol.Result)
		if err != nil || !ok {
			return
		}
		want = l.screen.gotRest(result)
	}
}

// lacking is what the terminal's history lacks.
func (s *screen) lacking() span {
	if s.inline == nil {
		return span{}
	}
	s.take()
	defer s.give()
	return s.inline.lacking()
}

// gotRest writes lines and returns what is still lacking.
func (s *screen) gotRest(m *protocol.Result) span {
	s.take()
	defer s.give()
	before := s.inline.next
	s.inline.got(m)
	s.failed(s.paint())
	if s.inline.next == before {
		return span{}
	}
	return s.inline.lacking()
}

package client

import (
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// maxKeptBytes is the largest paint whose buffer is kept for the next one.
const maxKeptBytes = 1 << 20

// life is where the terminal's screen is: ours or the user's.
type life uint8

const (
	lifeNew  life = iota // not touched
	lifeOurs             // raw, on the alternate screen
	lifeOver             // given back for ever: nothing is written any more
)

// screen draws the user's terminal. All of it belongs to who has the turn: the link for states, the tender for what the
// user and the terminal bring about. A terminal that takes nothing holds up both, and through the missing
// acknowledgements the daemon; it never holds up the pump, or the end.
type screen struct {
	turn chan struct{} // cap 1: full while somebody has the turn

	tty      ports.Terminal
	caps     render.Capabilities // of tty
	life     life
	size     domain.Size // of the terminal
	entered  time.Time
	view     view
	guesser  *guesser
	composer composer
	painter  *render.Painter
	inline   *inline // nil: the session is shown on the alternate screen
	failed   func(error)
	buf      []byte // what is to be written next; events wait here for their state
	opening  bool   // what prepares the terminal is still in buf

	shown atomic.Pointer[shown] // of the last frame, for the pump; what it points to is not changed
}

func newScreen(tty ports.Terminal, caps render.Capabilities, n *notices, g *guesser, scroll *scroller) *screen {
	s := &screen{
		turn: make(chan struct{}, 1), tty: tty, caps: caps, painter: render.NewPainter(render.UserTerminal, caps),
		guesser: g, composer: composer{notices: n, predictor: g.predictor, scroll: scroll},
	}
	s.shown.Store(&shown{})
	return s
}

func (s *screen) take() { s.turn <- struct{}{} }
func (s *screen) give() { <-s.turn }

// enter makes the terminal ours; it reports false when the end came before. What prepares it is written with the first frame,
// which is there by now, or at the end.
func (s *screen) enter(size domain.Size) (bool, error) {
	s.take()
	defer s.give()
	if s.life == lifeOver {
		return false, nil
	}
	s.size = size
	if err := s.tty.Raw(); err != nil {
		return false, &terminalError{err}
	}
	s.life, s.entered = lifeOurs, time.Now()
	s.begin()
	s.opening = true
	return true, nil
}

// begin appends what prepares the terminal.
func (s *screen) begin() {
	if s.inline != nil {
		s.painter.Inline(s.size.Rows)
	}
	s.buf = s.painter.Enter(s.buf)
}

// leave gives the terminal's screen back for ever. Its modes are the caller's.
func (s *screen) leave() {
	s.take()
	defer s.give()
	ours := s.life == lifeOurs
	s.life = lifeOver
	if ours {
		if s.opening {
			s.write() // as below
		}
		s.buf = s.buf[:0]
		if s.inline != nil {
			s.lastInline()
		}
		s.buf = s.painter.Leave(s.buf)
		s.write() // a terminal that has gone has nothing to restore
	}
}

// unseen is how soon after the attach a program's end comes before anybody could look.
const unseen = time.Second

// quote writes the last screen of a program that ended unseen where the user's own output
// goes, after leave: it is all there is to see. A full-screen program's picture is not worth
// that.
func (s *screen) quote() {
	s.take()
	defer s.give()
	if s.inline != nil || s.view.term == nil || time.Since(s.entered) >= unseen || s.view.term.Modes().Alternate {
		return
	}
	s.buf = appendScreen(s.buf[:0], s.view.term, s.caps)
	s.write() // the end is not worse for it
}

// appendScreen appends the rows of t up to the last that shows something, as lines.
func appendScreen(dst []byte, t *vt.Terminal, caps render.Capabilities) []byte {
	_, rows := t.Size()
	end := len(dst)
	for y := range rows {
		row := t.Row(y)
		line := vt.Line{Cells: row.Cells()[:row.Used()]}
		before := len(dst)
		dst = render.AppendANSI(dst, t, &line, caps)
		written := len(dst) > before
		dst = append(dst, "\r\n"...)
		if written {
			end = len(dst)
		}
	}
	return dst[:end]
}

// show applies what the daemon sent and paints it, unless more is known to follow and nothing but the screen changed.
// What was painted is to be acknowledged. at is how far the input has had its effect in that state.
func (s *screen) show(out *protocol.Output, at positions, more bool) (ack protocol.Ack, painted bool, err error) {
	s.take()
	defer s.give()
	if err := s.view.apply(out); err != nil {
		return ack, false, err
	}
	s.guesser.settled(at)
	s.guesser.update(s.view.term, time.Now())
	for _, e := range out.Events {
		if e.Seq > s.view.events {
			s.view.events = e.Seq
			s.buf = appendEvent(s.buf, e.Body, s.caps)
		}
	}
	if more && len(s.buf) == 0 {
		return ack, false, nil
	}
	return s.ack(), true, s.paint()
}

// catchUp paints what show has left for later.
func (s *screen) catchUp() (protocol.Ack, error) {
	s.take()
	defer s.give()
	return s.ack(), s.paint()
}

// ack is the acknowledgement of all that was shown. The caller has the turn.
func (s *screen) ack() protocol.Ack {
	return protocol.Ack{Epoch: s.view.epoch, State: s.view.state, EventSeq: s.view.events}
}

// resume makes the screen wait for a full state, and returns the last event delivered.
func (s *screen) resume() (events uint64) {
	s.take()
	defer s.give()
	s.view.restart()
	return s.view.events
}

// paint makes the terminal show what it should. The caller has the turn.
func (s *screen) paint() error {
	if s.life != lifeOurs {
		s.buf = s.buf[:0]
		return nil
	}
	s.composer.scroll.observe(&s.view, s.size, s.composer.y)
	f := s.composer.compose(s.view.term, s.view.policy, s.size)
	if s.inline != nil {
		s.paintInline()
	} else {
		s.buf = s.painter.Paint(s.buf, f)
	}
	// Before the terminal has it: whoever sees the frame and answers must be understood by it.
	if s.composer.input != *s.shown.Load() {
		now := s.composer.input
		s.shown.Store(&now)
	}
	return s.write()
}

func (s *screen) write() error {
	if len(s.buf) == 0 {
		return nil
	}
	_, err := s.tty.Write(s.buf)
	s.buf, s.opening = s.buf[:0], false
	if cap(s.buf) > maxKeptBytes {
		s.buf = nil
	}
	if err != nil {
		return &terminalError{err}
	}
	return nil
}

// send writes bytes that are none of the screen's.
func (s *screen) send(p []byte) error {
	s.take()
	defer s.give()
	if s.life != lifeOurs {
		return nil
	}
	s.buf = append(s.buf, p...)
	return s.write()
}

// repaint paints what has changed beside the states.
func (s *screen) repaint() error {
	s.take()
	defer s.give()
	return s.paint()
}

// guess paints what keys will do.
func (s *screen) guess() error {
	s.take()
	defer s.give()
	s.guesser.update(s.view.term, time.Now())
	return s.paint()
}

// resized draws everything for a terminal of another size: what it did with the old content is its own affair.
func (s *screen) resized(size domain.Size) error {
	s.take()
	defer s.give()
	s.size = size
	if s.inline != nil {
		s.inline.resized(size, &s.view)
	}
	s.forget()
	return s.paint()
}

// resumed takes the terminal back after a stop that was not announced: everything may have been changed.
func (s *screen) resumed(size domain.Size) error {
	s.take()
	defer s.give()
	return s.again(size, s.painter.Leave)
}

// suspend gives the screen back while stop runs, and takes it again after.
func (s *screen) suspend(stop func() (domain.Size, error)) (stopped error, err error) {
	s.take()
	defer s.give()
	if s.life != lifeOurs {
		return nil, nil
	}
	s.buf = s.painter.Leave(s.buf)
	if err := s.write(); err != nil {
		return nil, err
	}
	size, stopped := stop()
	return stopped, s.again(size, nil)
}

// again takes the terminal back. The caller has the turn.
func (s *screen) again(size domain.Size, leave func([]byte) []byte) error {
	if s.life != lifeOurs {
		return nil
	}
	if err := s.tty.Raw(); err != nil {
		return &terminalError{err}
	}
	if leave != nil {
		s.buf = leave(s.buf)
	}
	s.size = size
	s.begin()
	s.forget()
	return s.paint()
}

// forget makes the next paint complete.
func (s *screen) forget() {
	s.painter.Reset()
	if s.inline != nil {
		s.inline.restarted()
	}
}

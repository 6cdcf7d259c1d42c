package gallery

import (
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
)

// screen is the user's terminal. The loop has it; at the end, whoever leaves.
type screen struct {
	tty     ports.Terminal
	painter *render.Painter
	frame   render.Frame
	buf     []byte
	turn    chan struct{} // cap 1: full while somebody writes
	ours    bool          // guarded by turn, like all of it
	over    bool
}

func (s *screen) take() { s.turn <- struct{}{} }
func (s *screen) give() { <-s.turn }

// enter makes the terminal ours, unless it was given back for ever.
func (s *screen) enter() error {
	s.take()
	defer s.give()
	if s.over {
		return nil
	}
	if err := s.tty.Raw(); err != nil {
		return &terminalError{err}
	}
	s.ours = true
	s.painter.Reset()
	s.buf = s.painter.Enter(s.buf)
	return s.write()
}

// paint makes the terminal show the canvas.
func (s *screen) paint(canvas *vt.Terminal) error {
	s.take()
	defer s.give()
	if !s.ours {
		return nil
	}
	s.frame.SetTerminal(canvas)
	s.frame.Cursor.Visible = false
	s.buf = s.painter.Paint(s.buf, &s.frame)
	return s.write()
}

// leave gives the terminal's screen back for ever. Its modes are the caller's.
func (s *screen) leave() {
	s.take()
	defer s.give()
	s.over = true
	_ = s.back() // a terminal that has gone has nothing to restore
}

// suspend gives the screen back while the job is stopped, and takes it again after.
func (s *screen) suspend() error {
	s.take()
	err := s.back()
	s.give()
	if err != nil {
		return err
	}
	_ = s.tty.Suspend() // without a shell it goes on at once
	return s.enter()
}

// back leaves the terminal's screen, with the turn.
func (s *screen) back() error {
	if !s.ours {
		return nil
	}
	s.ours = false
	s.buf = s.painter.Leave(s.buf)
	return s.write()
}

func (s *screen) write() error {
	if len(s.buf) == 0 {
		return nil
	}
	_, err := s.tty.Write(s.buf)
	s.buf = s.buf[:0]
	if err != nil {
		return &terminalError{err}
	}
	return nil
}

// size is the terminal's, as far as it can be told.
func (s *screen) size() domain.Size {
	size, err := s.tty.Size()
	if err != nil || !size.Valid() {
		return domain.DefaultSize
	}
	return size
}

package daemon

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// preview draws pictures of a session for one watch, of the size that its client has for it. While nobody watches there
// is none, and nothing is drawn.
type preview struct {
	s        *session
	size     domain.Size
	interval time.Duration // between two pictures, at the least
	sequence uint64        // of the last one

	painter *render.Painter // its terminal shows the last picture
	frame   render.Frame
	x, y    int // of the window in the session's screen
	buf     []byte
}

// preview is the watchPart of a session's pictures.
func (d *Daemon) preview(m *protocol.WatchPreviews) (watchPart, error) {
	s, err := d.find(m.Session.String())
	if err != nil {
		return nil, err
	}
	p := &preview{
		s: s, size: m.Size, interval: max(m.Interval, protocol.LeastPreviewInterval),
		painter: render.NewPainter(render.Canonical, render.Capabilities{}),
	}
	return p.tell, nil
}

// tell sends pictures until ctx or the session ends. What changes while the client takes nothing, or within the
// interval, is no more than a note: the next picture is the newest.
func (p *preview) tell(ctx context.Context, conn ports.SessionServerConn) error {
	changes, release := p.s.watch()
	defer release()
	pace := time.NewTimer(0)
	defer pace.Stop()
	for {
		select { // the interval of the last picture
		case <-pace.C:
		case <-ctx.Done():
			return nil
		}
		if content := p.draw(); len(content) > 0 {
			p.sequence++
			if err := conn.Send(&protocol.Preview{Sequence: p.sequence, Content: content}); err != nil {
				return err
			}
			pace.Reset(p.interval)
		} else {
			pace.Reset(0)
		}
		select {
		case <-changes:
		case <-p.s.gone:
			return conn.Send(&protocol.Preview{Sequence: p.sequence + 1, Ended: true})
		case <-ctx.Done():
			return nil
		}
	}
}

// draw returns the picture of the session as it is, valid until the next call; nothing if it shows what the last one did.
func (p *preview) draw() []byte {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.look()
	p.buf = p.painter.Paint(p.buf[:0], &p.frame)
	if len(p.buf) == 0 {
		return nil
	}
	for rows := p.frame.Rows; rows > 0; rows /= 2 {
		if rows < p.frame.Rows { // too much: what is at the top of the window must do
			p.look()
			p.frame.Window(0, 0, p.size.Cols, rows, vt.Cell{})
			p.frame.Window(0, 0, p.size.Cols, p.size.Rows, vt.Cell{})
		}
		p.painter.Reset()
		if p.buf = p.painter.Paint(p.buf[:0], &p.frame); len(p.buf) <= protocol.MaxPreviewBytes {
			return p.buf
		}
	}
	return nil
}

// look fills the frame with the part of the screen that has the cursor. The caller holds the session's mu.
func (p *preview) look() {
	f := &p.frame
	f.SetTerminal(p.s.term)
	f.Title, f.Palette = "", nil
	f.Modes = vt.Modes{Autowrap: true, ReverseVideo: f.Modes.ReverseVideo}
	if at := f.Cursor; at.Visible || !p.s.term.Modes().Alternate {
		p.x = max(0, at.Col-p.size.Cols+1) // lines are read from their begin
		p.y = max(min(p.y, at.Row), at.Row-p.size.Rows+1)
	}
	p.x = max(0, min(p.x, f.Cols-p.size.Cols))
	p.y = max(0, min(p.y, f.Rows-p.size.Rows))
	f.Window(p.x, p.y, p.size.Cols, p.size.Rows, vt.Cell{})
}

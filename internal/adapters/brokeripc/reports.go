package brokeripc

import (
	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// Report implements ports.StreamRequest. What the client has not been told yet is replaced.
func (r *request) Report(report protocol.LinkReport) {
	c := r.server.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	s := r.stream
	if !r.server.reports || c.machine.Stream(s.id) != brokerwire.StreamOpen {
		return
	}
	report.Ref = s.ref()
	if s.told == nil && s.owed == 0 {
		c.writing.owing = append(c.writing.owing, s)
	}
	s.told = &report
	c.wantFlush()
}

// appendReport tells what there is to be told of a stream's link, with mu held.
func (c *conn) appendReport(dst *[]byte, s *Stream) {
	b, at := beginFrame(*dst)
	if d, err := brokerwire.AppendServer(b, s.told); err == nil { // it holds numbers only
		endFrame(d, at, 0)
		*dst = d
	}
	s.told = nil
}

// Reports tells how the link under the stream is, the newest only, while it lives; a broker that cannot tell says nothing.
// It is never closed.
func (s *Stream) Reports() <-chan protocol.LinkReport { return s.reports }

// reported keeps the newest report for who wants to know, with conn.mu held.
func (c *Client) reported(m *protocol.LinkReport) error {
	if !c.reports {
		return fault.New(fault.Violation, "a report on a link, though reports were not agreed")
	}
	if err := c.conn.inScope(m.Ref); err != nil {
		return err
	}
	if v, err := c.conn.machine.PeerFrame(m.Ref.ID); err != nil || v == brokerwire.Discard {
		return orNil(err)
	}
	newest := c.conn.streams[m.Ref.ID].reports
	select {
	case <-newest:
	default:
	}
	newest <- *m // only this end writes, with mu held
	return nil
}

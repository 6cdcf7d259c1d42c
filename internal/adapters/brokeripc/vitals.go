package brokeripc

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// ping is one whose answer has not come.
type ping struct {
	at   time.Time
	came chan struct{} // closed with its answer, and with the connection
}

// Probe implements ports.Link. One ping at a time is on its way, whoever waits for it; a broker that knows none is asked
// for its numbers.
func (c *Client) Probe(ctx context.Context) error {
	if !c.pings {
		asked := time.Now()
		_, err := c.Stats(ctx)
		if err == nil {
			c.conn.mu.Lock()
			c.measured(time.Since(asked))
			c.conn.mu.Unlock()
		}
		return err
	}
	n := c.conn
	n.mu.Lock()
	p, err := c.ping()
	if err != nil {
		n.mu.Unlock()
		return err
	}
	n.reading.urgent++
	n.offerTurn()
	n.mu.Unlock()
	select {
	case <-p.came:
	case <-ctx.Done():
		err = canceled(ctx)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reading.urgent--
	if err == nil && c.pinged == p {
		err = n.err // it ended instead
	}
	return err
}

// ping is the one on its way, with conn.mu held.
func (c *Client) ping() (*ping, error) {
	n := c.conn
	if n.err != nil {
		return nil, n.err
	}
	if c.pinged != nil {
		return c.pinged, nil
	}
	number, err := n.machine.Ping()
	if err != nil {
		return nil, err
	}
	c.pinged = &ping{at: time.Now(), came: make(chan struct{})}
	n.post(brokerwire.AppendClient(nil, &protocol.Ping{Number: number}))
	return c.pinged, nil
}

// ponged takes the answer to the ping on its way, with conn.mu held.
func (c *Client) ponged(m *protocol.Pong) error {
	if v, err := c.conn.machine.PeerPong(m.Number); err != nil || v == brokerwire.Discard {
		return orNil(err)
	}
	c.measured(time.Since(c.pinged.at))
	close(c.pinged.came)
	c.pinged = nil
	return nil
}

// measured takes a round trip in, with conn.mu held: one that is out of the ordinary counts for a quarter.
func (c *Client) measured(rtt time.Duration) {
	if c.rtt > 0 {
		rtt = (3*c.rtt + rtt) / 4
	}
	c.rtt = max(rtt, 1)
}

// Vitals implements ports.Link; what carries the conversation only its dialer knows.
func (c *Client) Vitals() domain.Vitals {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	return domain.Vitals{RTT: c.rtt, Heard: c.conn.heard}
}

// ping answers a client's, with conn.mu held.
func (s *Server) ping(m *protocol.Ping) error {
	if !s.pings {
		return fault.New(fault.Violation, "a ping, though pings were not agreed")
	}
	if v, err := s.conn.machine.PeerPing(m.Number); err != nil || v == brokerwire.Discard {
		return orNil(err)
	}
	s.post(&protocol.Pong{Number: m.Number})
	return nil
}

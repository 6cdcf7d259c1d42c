package brokeripc

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
)

// Probe implements ports.Link.
func (c *Client) Probe(ctx context.Context) error {
	asked := time.Now()
	if _, err := c.Stats(ctx); err != nil {
		return err
	}
	c.measured(time.Since(asked))
	return nil
}

// measured takes a round trip in: one that is out of the ordinary counts for a quarter.
func (c *Client) measured(rtt time.Duration) {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
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

package quic

import (
	"context"
	"time"

	quicgo "github.com/quic-go/quic-go"
)

// carriage is the control stream as what carries the broker conversation: they end together, and the connection with them.
type carriage struct {
	*stream
	conn  *quicgo.Conn
	grace time.Duration // how long the other side may take to hear the last words
}

// Close says what is left to say and ends the connection, at the latest after the grace.
func (c *carriage) Close() error {
	_ = c.stream.Close()
	if c.grace > 0 {
		timer := time.NewTimer(c.grace)
		defer timer.Stop()
		select {
		case <-c.conn.Context().Done():
		case <-timer.C:
		}
	}
	return c.conn.CloseWithError(codeDone, "")
}

// open gives a carriage on a connection of this side's.
func openCarriage(ctx context.Context, conn *quicgo.Conn) (*carriage, error) {
	qs, err := conn.OpenStreamSync(ctx)
	if err != nil {
		return nil, lost(err)
	}
	return &carriage{stream: newStream(qs, new(traffic)), conn: conn}, nil
}

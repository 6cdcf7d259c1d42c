package brokeripc

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testBroker() Broker {
	return Broker{
		Software: "vev test-broker", Epoch: 77,
		Numbers: func() protocol.BrokerNumbers { return protocol.BrokerNumbers{Pid: 42, Version: "test", Streams: 3} },
	}
}

// connect sets both ends up on a carriage.
func connect(t testing.TB, a, b io.ReadWriteCloser) (*Client, *Server) {
	t.Helper()
	type accepted struct {
		s   *Server
		err error
	}
	ch := make(chan accepted, 1)
	go func() {
		s, err := Accept(context.Background(), b, testBroker())
		ch <- accepted{s, err}
	}()
	c, err := Dial(context.Background(), a, "vev test-client")
	require.NoError(t, err)
	got := <-ch
	require.NoError(t, got.err)
	return c, got.s
}

// open opens one stream and returns its two ends.
func open(t testing.TB, c *Client, s *Server) (client, server ports.Stream) {
	t.Helper()
	ch := make(chan ports.Stream, 1)
	go func() {
		r, err := s.Accept(context.Background())
		if err != nil {
			t.Error(err)
			close(ch)
			return
		}
		st, err := r.Open()
		if err != nil {
			t.Error(err)
		}
		ch <- st
	}()
	client, err := c.OpenStream(context.Background(), "host", protocol.ExistingOnly)
	require.NoError(t, err)
	return client, <-ch
}

// part ends a connection from the client's side and waits for both ends.
func part(c *Client, s *Server) {
	c.Close()
	<-s.Done()
}

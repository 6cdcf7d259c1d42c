package brokeripc

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// shown is a preview as the broker has it.
type shown struct {
	ctx context.Context
	ports.PreviewRequest
}

// previewed gives both ends of a conversation whose broker has previews, over a pipe of that size.
func previewed(t *testing.T, buffer int) (*Client, *Server, <-chan shown) {
	t.Helper()
	asked := make(chan shown, 2*protocol.MaxPendingOps)
	broker := testBroker()
	broker.Previewed = func(ctx context.Context, r ports.PreviewRequest) { asked <- shown{ctx, r} }
	a, b := simnet.Pipe(buffer)
	accepted := make(chan *Server)
	go func() {
		s, err := Accept(context.Background(), b, broker)
		require.NoError(t, err)
		accepted <- s
	}()
	c, err := Dial(context.Background(), a, "vev")
	require.NoError(t, err)
	return c, <-accepted, asked
}

func look(t *testing.T, c *Client) ports.PictureStream {
	t.Helper()
	p, err := c.Look(t.Context(), domain.Host{Name: "desk"}, domain.SessionID{7}, domain.Size{Cols: 40, Rows: 10})
	require.NoError(t, err)
	return p
}

func TestPicturesCome(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s, asked := previewed(t, 1<<16)
		p := look(t, c)
		defer part(c, s)
		r := <-asked
		m := r.Asked()
		require.Equal(t, protocol.StartPreview{Operation: m.Operation, Host: "desk", Session: [16]byte{7}, Cols: 40, Rows: 10}, m)
		for _, content := range []string{"one", "two"} {
			require.NoError(t, r.Show([]byte(content)))
			got, err := p.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, content, string(got))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Next(ctx)
		require.Equal(t, fault.Timeout, fault.KindOf(err))

		for i := range 100 { // nobody takes them
			require.NoError(t, r.Show(fmt.Append(nil, i)))
		}
		synctest.Wait()
		got, err := p.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, "99", string(got), "the newest alone")

		require.NoError(t, r.Show([]byte("last")))
		r.End(protocol.Failure{Kind: fault.NotFound, Text: "gone"})
		r.End(protocol.Failure{Kind: fault.Internal, Text: "said once"})
		synctest.Wait()
		got, err = p.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, "last", string(got), "the end comes behind the last picture")
		for range 2 {
			_, err = p.Next(t.Context())
			require.Equal(t, fault.NotFound, fault.KindOf(err))
		}
		require.NoError(t, p.Close())
		require.NoError(t, p.Close())
		require.Error(t, r.ctx.Err())
	})
}

// Whoever has had enough, or goes, ends what is done for it; what is on its way then is nobody's fault.
func TestAPreviewIsCanceled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s, asked := previewed(t, 1<<16)
		p, other := look(t, c), look(t, c)
		r, o := <-asked, <-asked
		require.NoError(t, r.Show([]byte("on its way")))
		require.NoError(t, p.Close())
		<-r.ctx.Done()
		require.Equal(t, fault.Canceled, fault.KindOf(r.Show(nil)))
		_, err := p.Next(t.Context())
		require.Equal(t, fault.Canceled, fault.KindOf(err))
		synctest.Wait()
		require.NoError(t, c.Err())

		ended := make(chan error)
		go func() {
			_, err := other.Next(t.Context())
			ended <- err
		}()
		synctest.Wait()
		require.NoError(t, c.Close())
		require.Error(t, <-ended)
		<-o.ctx.Done()
		require.Equal(t, fault.Canceled, fault.KindOf(o.Show(nil)))
		require.NoError(t, other.Close())
		_, err = c.Look(t.Context(), domain.Host{}, domain.SessionID{1}, domain.DefaultSize)
		require.Error(t, err)
		_ = s.Close(protocol.Failure{})
	})
}

// A client that takes nothing makes pictures wait, not pile up, and loses no connection by that.
func TestPicturesWaitForTheClient(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := pace(1<<10, time.Second) // a slow link
		broker := testBroker()
		asked := make(chan shown, 1)
		broker.Previewed = func(ctx context.Context, r ports.PreviewRequest) { asked <- shown{ctx, r} }
		accepted := make(chan *Server)
		go func() {
			s, err := Accept(context.Background(), b, broker)
			require.NoError(t, err)
			accepted <- s
		}()
		c, err := Dial(context.Background(), a, "vev")
		require.NoError(t, err)
		s := <-accepted
		p := look(t, c)
		r := <-asked
		showed := 0
		go func() {
			for r.Show(make([]byte, protocol.MaxPreviewBytes)) == nil {
				showed++
			}
		}()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Less(t, showed, 6)
		s.conn.mu.Lock()
		require.Less(t, len(s.conn.writing.unsent), maxUnsent)
		s.conn.mu.Unlock()
		_, err = p.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, p.Close())
		require.NoError(t, c.Err())
		<-r.ctx.Done()
		part(c, s)
		time.Sleep(time.Minute) // for the link to notice
	})
}

func TestPreviewsAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s, asked := previewed(t, 1<<16)
		var all []ports.PictureStream
		for range protocol.MaxPendingOps {
			all = append(all, look(t, c))
		}
		_, err := c.Look(t.Context(), domain.Host{}, domain.SessionID{1}, domain.DefaultSize)
		require.Equal(t, fault.Limit, fault.KindOf(err))
		require.NoError(t, all[0].Close())
		look(t, c)
		synctest.Wait()
		require.Len(t, asked, protocol.MaxPendingOps+1)
		part(c, s)
	})
}

func TestABrokerWithoutPreviewsSaysSo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		p := look(t, c)
		_, err := p.Next(t.Context())
		require.Equal(t, fault.Unsupported, fault.KindOf(err))
		require.NoError(t, p.Close())
		require.NoError(t, c.Err())
		part(c, s)
	})
}

// What a broker says of previews that nobody asked for, or twice, ends the connection.
func TestPicturesNobodyAskedFor(t *testing.T) {
	for what, say := range map[string]func(p *scripted, asked *protocol.StartPreview){
		"of another operation": func(p *scripted, _ *protocol.StartPreview) {
			p.send(&protocol.PreviewPublication{Operation: protocol.OperationID{1}, Sequence: 1, Content: []byte("x")})
		},
		"a number twice": func(p *scripted, asked *protocol.StartPreview) {
			for range 2 {
				p.send(&protocol.PreviewPublication{Operation: asked.Operation, Sequence: 1, Content: []byte("x")})
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				c, p := scriptBrokerOn(t, 1<<16)
				stream := look(t, c)
				asked := wants[*protocol.StartPreview](p, "a preview")
				say(p, asked)
				<-c.Done()
				require.Equal(t, fault.Violation, fault.KindOf(c.Err()))
				_ = stream.Close()
			})
		})
	}
}

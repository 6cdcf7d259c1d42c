package broker

import (
	"context"
	"fmt"
	"io"
	"sync"
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

// painter is a daemon's end of a watch for pictures.
type painter struct {
	asked *protocol.WatchPreviews
	says  chan protocol.SessionServerMessage
	over  chan struct{}
	once  sync.Once
}

func (p *painter) Send(m protocol.SessionClientMessage) error {
	p.asked = m.(*protocol.Watch).Previews
	return nil
}

func (p *painter) Receive() (protocol.SessionServerMessage, error) {
	select {
	case m := <-p.says:
		return m, nil
	case <-p.over:
		return nil, io.EOF
	}
}

func (p *painter) Close() error { p.once.Do(func() { close(p.over) }); return nil }

func (p *painter) shows(n uint64, content string) {
	p.says <- &protocol.Preview{Sequence: n, Content: []byte(content)}
}

// onlooker is a client that asks for pictures.
type onlooker struct {
	asked  protocol.StartPreview
	cancel context.CancelFunc
	shown  chan string // of no room: Show waits for the client
	ended  chan protocol.Failure
	ctx    context.Context
}

func (o *onlooker) Asked() protocol.StartPreview { return o.asked }

func (o *onlooker) Show(content []byte) error {
	select {
	case o.shown <- string(content):
		return nil
	case <-o.ctx.Done():
		return fault.New(fault.Canceled, "the preview is over")
	}
}

func (o *onlooker) End(why protocol.Failure) {
	if o.ctx.Err() == nil {
		o.ended <- why
	}
}

// gallery is a broker with daemons that paint.
type gallery struct {
	*testing.T
	b        *Broker
	d        *daemons
	painters chan *painter
}

func exhibit(t *testing.T, f func(g *gallery)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		g := &gallery{T: t, d: newDaemons(), painters: make(chan *painter, 2*maxSources)}
		g.d.far = make(chan *simnet.End, 2*maxSources)
		g.b = New(Options{Daemon: g.d, Converse: func(_ context.Context, carriage io.ReadWriteCloser) (ports.SessionClientConn, error) {
			_ = carriage.Close()
			p := &painter{says: make(chan protocol.SessionServerMessage), over: make(chan struct{})}
			g.painters <- p
			return p, nil
		}})
		f(g)
		g.b.Close()
		require.Empty(t, g.b.previews.sources)
	})
}

// visit has a client ask for pictures of a session.
func (g *gallery) visit(session byte, cols uint32) *onlooker {
	ctx, cancel := context.WithCancel(context.Background())
	o := &onlooker{
		asked:  protocol.StartPreview{Session: [16]byte{session}, Cols: cols, Rows: 10},
		cancel: cancel, shown: make(chan string), ended: make(chan protocol.Failure, 1), ctx: ctx,
	}
	g.b.Previewed(ctx, o)
	synctest.Wait()
	return o
}

func (g *gallery) painter() *painter {
	g.Helper()
	p := <-g.painters
	p.says <- &protocol.Watching{Previews: &protocol.WatchAnswer{}}
	return p
}

func TestClientsShareASource(t *testing.T) {
	exhibit(t, func(g *gallery) {
		one := g.visit(7, 40)
		p := g.painter()
		require.Equal(t, &protocol.WatchPreviews{
			Session: domain.SessionID{7}, Size: domain.Size{Cols: 40, Rows: 10}, Interval: protocol.LeastPreviewInterval,
		}, p.asked)
		p.shows(1, "first")
		require.Equal(t, "first", <-one.shown)
		two := g.visit(7, 40)
		require.Equal(t, "first", <-two.shown, "who comes later sees what is there at once")
		require.Empty(t, g.painters)
		synctest.Wait()
		for i := range uint64(50) {
			p.shows(i+2, fmt.Sprint(i))
			if i < 49 {
				require.Equal(t, fmt.Sprint(i), <-one.shown, "who takes nothing holds up nobody")
			}
			synctest.Wait()
		}
		synctest.Wait()
		require.Equal(t, "49", <-one.shown)
		require.Equal(t, "0", <-two.shown, "this was on its way")
		require.Equal(t, "49", <-two.shown, "then comes the newest")

		other := g.visit(7, 41)
		q := g.painter()
		require.Equal(t, 41, q.asked.Size.Cols)
		other.cancel()
		<-q.over
		one.cancel()
		synctest.Wait()
		p.shows(60, "still")
		require.Equal(t, "still", <-two.shown)
		two.cancel()
		<-p.over
	})
}

func TestWhyThereAreNoPictures(t *testing.T) {
	for what, c := range map[string]struct {
		says protocol.SessionServerMessage
		kind fault.Kind
	}{
		"gone":     {&protocol.Preview{Sequence: 1, Ended: true}, fault.NotFound},
		"refused":  {&protocol.Refused{Failure: protocol.Failure{Kind: fault.Unsupported}}, fault.Unsupported},
		"old":      {&protocol.Watching{}, fault.Unsupported},
		"unknown":  {&protocol.Watching{Previews: &protocol.WatchAnswer{Failure: &protocol.Failure{Kind: fault.NotFound}}}, fault.NotFound},
		"nonsense": {&protocol.Ended{}, fault.Violation},
	} {
		t.Run(what, func(t *testing.T) {
			exhibit(t, func(g *gallery) {
				one, two := g.visit(7, 40), g.visit(7, 40)
				p := <-g.painters
				p.says <- c.says
				for _, o := range []*onlooker{one, two} {
					require.Equal(t, c.kind, (<-o.ended).Kind)
				}
				<-p.over
				g.visit(7, 40)
				require.Len(t, g.painters, 1, "the next client has another try")
			})
		})
	}
	exhibit(t, func(g *gallery) {
		o := g.visit(7, 40)
		p := g.painter()
		_ = p.Close()
		require.Equal(t, fault.Unavailable, (<-o.ended).Kind, "a daemon that has gone")
		require.Equal(t, fault.Usage, (<-g.visit(7, 1001).ended).Kind)
		require.Equal(t, fault.Usage, (<-g.visit(7, 0).ended).Kind)
		g.d.fail = fault.New(fault.NotFound, "no daemon")
		require.Equal(t, fault.NotFound, (<-g.visit(7, 40).ended).Kind)
	})
}

func TestSourcesAreBounded(t *testing.T) {
	exhibit(t, func(g *gallery) {
		var all []*onlooker
		for i := range maxSources {
			all = append(all, g.visit(byte(i), uint32(40+i/256)))
		}
		require.Equal(t, fault.Limit, (<-g.visit(1, 500).ended).Kind)
		all[0].cancel()
		synctest.Wait()
		require.Empty(t, g.visit(1, 500).ended)
	})
}

// The end of the broker is told, and everything of it ends.
func TestTheEndOfTheBrokerEndsPreviews(t *testing.T) {
	exhibit(t, func(g *gallery) {
		o := g.visit(7, 40)
		p := g.painter()
		g.b.Close()
		<-p.over
		<-o.ended
		require.Equal(t, fault.Unavailable, (<-g.visit(7, 40).ended).Kind)
		time.Sleep(time.Second)
	})
}

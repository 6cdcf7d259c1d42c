package netsim

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/app/broker"
	"github.com/vev-term/vev/internal/app/client"
	"github.com/vev-term/vev/internal/app/daemon"
	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// brokers are those on the way to a daemon: the user's own, and the helper on the far side of the links.
type brokers struct {
	near, far *broker.Broker
	end       context.Context
	stop      context.CancelFunc
	patience  time.Duration // of an attempt to connect
	reports   bool          // clients are told of the link under their streams
}

const farHost = "far"

func newBrokers(w *world, patience time.Duration) *brokers {
	b := &brokers{patience: patience}
	b.end, b.stop = context.WithCancel(context.Background())
	b.near = broker.New(broker.Options{Remote: broker.Remote{SSH: farLinks{w, b}}})
	b.far = broker.New(broker.Options{Daemon: farDaemon{w}})
	return b
}

func (b *brokers) close() {
	b.stop()
	b.near.Close()
	b.far.Close()
}

// serve is a broker's end of a carriage.
func (b *brokers) serve(w *world, rw io.ReadWriteCloser, s *broker.Broker) {
	w.all.Go(func() {
		endpoint := brokeripc.Broker{Software: "test", Epoch: 1, Numbers: s.Numbers}
		conn, err := brokeripc.Accept(b.end, rw, endpoint)
		if err != nil {
			return // cut off before it began
		}
		if err := s.Serve(b.end, conn); err != nil {
			w.wrong("a broker's client broke the protocol: %v", err)
		}
	})
}

// dial is a client's way: the user's broker, a stream, and with the request for that the session's preamble and what is said
// first, or nil.
func (b *brokers) dial(ctx context.Context, w *world, first protocol.SessionClientMessage) (ports.SessionClientConn, error) {
	opening, err := sessionwire.Open("test", w.features, first)
	if err != nil {
		return nil, err
	}
	ours, theirs := simnet.Pipe(64 << 10)
	b.serve(w, theirs, b.near)
	c, err := brokeripc.Dial(ctx, ours, "test")
	if err != nil {
		return nil, err
	}
	stream, err := c.OpenStream(ctx, farHost, protocol.StartIfNeeded, opening.Bytes())
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	conn, err := opening.Client(ctx, stream)
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	through := &throughBroker{conn, c}
	if b.reports {
		return &toldOfLink{through, stream.(*brokeripc.Stream)}, nil
	}
	return through, nil
}

// toldOfLink is a conversation whose client hears of the link under it, a ports.LinkTeller.
type toldOfLink struct {
	*throughBroker
	stream *brokeripc.Stream
}

func (t *toldOfLink) Reports() <-chan protocol.LinkReport { return t.stream.Reports() }

type throughBroker struct {
	*sessionwire.ClientConn
	broker *brokeripc.Client
}

func (t *throughBroker) Close() error {
	err := t.ClientConn.Close()
	_ = t.broker.Close()
	return err
}

// farLinks dials over the world's links.
type farLinks struct {
	w *world
	b *brokers
}

func (f farLinks) Attempts() (time.Duration, int) { return 150 * time.Millisecond, 8 }

func (f farLinks) DialLink(ctx context.Context, _ string, _ ports.Ask) (ports.Link, error) {
	ctx, cancel := context.WithTimeout(ctx, f.b.patience)
	defer cancel()
	near, far := f.w.connect()
	f.b.serve(f.w, far, f.b.far)
	link, err := brokeripc.Dial(ctx, near, "test")
	if err != nil {
		return nil, err
	}
	return link, nil
}

// farDaemon is the daemon beside the helper.
type farDaemon struct{ w *world }

func (f farDaemon) DialDaemon(context.Context, protocol.StartPolicy) (io.ReadWriteCloser, error) {
	ours, theirs := simnet.Pipe(64 << 10)
	f.w.serve(theirs)
	return ours, nil
}

// DialSaying implements ports.SayingDialer.
func (w *world) DialSaying(ctx context.Context, first protocol.SessionClientMessage) (ports.SessionClientConn, error) {
	if w.brokers != nil {
		return w.brokers.dial(ctx, w, first)
	}
	conn, err := w.Dial(ctx)
	if err == nil {
		err = conn.Send(first)
	}
	return conn, err
}

// TestAWarmAttachTakesOneRoundTrip: where there is a link, all that has to be said goes at once, and the screen comes back.
func TestAWarmAttachTakesOneRoundTrip(t *testing.T) {
	const rtt = 100 * time.Millisecond
	bubble.Test(t, func(t *testing.T) {
		c := simnet.Conditions{Delay: rtt / 2}
		prog := newProgram(newOracle(simSize))
		w := &world{
			d:     daemon.New(daemon.Options{Programs: programs{prog}, Version: "test"}),
			links: []*simnet.Link{simnet.NewLink(1, c, c)},
		}
		w.brokers = newBrokers(w, time.Second)
		attach := func(a protocol.Attach) (took time.Duration) {
			began, shown := time.Now(), make(chan time.Duration, 1)
			tty := newTerminal(simSize, func(screen string) {
				if firstLine(screen) == "hello" {
					select {
					case shown <- time.Since(began):
					default:
					}
				}
			})
			ended := make(chan error, 1)
			go func() {
				_, err := client.Run(t.Context(), client.Options{Terminal: tty, Dialer: w, Far: true, Predict: predict.Never, Attach: a})
				ended <- err
			}()
			prog.print("\x1b[Hhello\x1b[K")
			took = <-shown
			tty.press("\x1cd")
			require.NoError(t, <-ended)
			return took
		}
		cold := attach(protocol.Attach{Create: &protocol.Create{Name: "work"}})
		time.Sleep(time.Minute)
		warm := attach(protocol.Attach{Session: "work"})
		w.close()
		t.Logf("cold %v, warm %v", cold, warm)
		require.Empty(t, w.problem)
		require.Less(t, warm, rtt+rtt/4)
	})
}

// TestCurrentAfterABlackhole: a program draws all the time; 30 s of blackhole later its newest screen is shown within a
// second, mostly within two round trips and 300 ms, and what was typed meanwhile has arrived once.
func TestCurrentAfterABlackhole(t *testing.T) {
	const rtt = 50 * time.Millisecond
	c := simnet.Conditions{Delay: rtt / 2}
	var took []time.Duration
	for seed := range uint64(15) {
		hole := 30*time.Second + time.Duration(seed)*700*time.Millisecond
		took = append(took, afterHole(t, seed, c, hole))
	}
	slow := 0
	for _, d := range took {
		require.Less(t, d, time.Second, "%v", took)
		if d > 2*rtt+300*time.Millisecond {
			slow++
		}
	}
	require.LessOrEqual(t, slow, len(took)/2, "%v", took)
	t.Log(took)
}

// afterHole is one blackhole, and how long after it a screen from after it is shown.
func afterHole(t *testing.T, seed uint64, c simnet.Conditions, hole time.Duration) (took time.Duration) {
	bubble.Test(t, func(t *testing.T) {
		prog := newProgram(newOracle(simSize))
		w := &world{
			d:     daemon.New(daemon.Options{Programs: programs{prog}, Version: "test"}),
			links: []*simnet.Link{simnet.NewLink(seed, c, c)},
		}
		w.brokers = newBrokers(w, 1200*time.Millisecond)
		var mu sync.Mutex
		var back time.Time
		tty, leave := tellsTime(t, w, prog, time.Second/20, func(at time.Time) {
			mu.Lock()
			defer mu.Unlock()
			if !back.IsZero() && took == 0 && !at.Before(back) {
				took = time.Since(back)
			}
		})
		time.Sleep(5 * time.Second)
		down := c
		down.Down = true
		w.links[0].Set(down, down)
		time.Sleep(hole / 2)
		tty.press("in the dark")
		time.Sleep(hole - hole/2)
		mu.Lock()
		back = time.Now().UTC()
		mu.Unlock()
		w.links[0].Set(c, c)
		time.Sleep(3 * time.Second)
		leave()
		w.close()
		require.Empty(t, w.problem)
		require.NotZero(t, took, "it never came back")
		require.Equal(t, "in the dark", prog.got(), "what was typed meanwhile")
	})
	return took
}

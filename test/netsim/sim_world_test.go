package netsim

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/app/client"
	"github.com/vev-term/vev/internal/app/daemon"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// world is a daemon and the links to it, in a bubble of virtual time.
type world struct {
	d        *daemon.Daemon
	links    []*simnet.Link // each dial takes the next one
	features uint64         // that the client offers
	brokers  *brokers       // nil: the client dials the daemon itself
	all      sync.WaitGroup

	mu      sync.Mutex
	dials   int
	ends    [][2]*simnet.End // near and far, of every connection
	problem string           // the first
}

func (w *world) wrong(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.problem == "" {
		w.problem = fmt.Sprintf(format, args...)
	}
}

// Dial makes a connection and a session conversation over it; the daemon serves its far end.
func (w *world) Dial(ctx context.Context) (ports.SessionClientConn, error) {
	if w.brokers != nil {
		return w.brokers.dial(ctx, w, nil)
	}
	near, far := w.connect()
	w.serve(far)
	conn, err := sessionwire.Client(ctx, near, "test", w.features)
	if fault.KindOf(err) == fault.Violation {
		w.wrong("the daemon broke the protocol: %v", err)
	}
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// connect makes a connection over the next link.
func (w *world) connect() (near, far *simnet.End) {
	w.mu.Lock()
	defer w.mu.Unlock()
	near, far = w.links[w.dials%len(w.links)].Connect()
	w.dials++
	w.ends = append(w.ends, [2]*simnet.End{near, far})
	return near, far
}

// serve is the daemon's end of a carriage.
func (w *world) serve(carriage io.ReadWriteCloser) {
	w.all.Go(func() {
		conn, err := sessionwire.Server(carriage, "test")
		if err != nil {
			return // cut off before it began
		}
		if err := w.d.Serve(context.Background(), newWatched(w, conn)); fault.KindOf(err) == fault.Violation {
			w.wrong("the client broke the protocol: %v", err)
		}
	})
}

// close ends everything and waits for it.
func (w *world) close() {
	if w.brokers != nil {
		w.brokers.close()
	}
	for _, e := range w.ends {
		e[0].Close()
	}
	w.d.Close(context.Background())
	w.all.Wait()
}

// newest are the ends of the connection that was made last.
func (w *world) newest() (near, far *simnet.End) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.ends[len(w.ends)-1]
	return e[0], e[1]
}

func (w *world) capture() (protocol.SessionServerMessage, error) {
	conn, err := w.Dial(context.Background())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.Send(&protocol.Request{ID: 1, Body: &protocol.Capture{Session: "work"}}); err != nil {
		return nil, err
	}
	return conn.Receive()
}

// has asks the daemon what the session's screen is, of the client's size, again when a cut that was to come meets that.
func (w *world) has(size domain.Size) string {
	m, err := w.capture()
	for range 5 {
		if err == nil {
			break
		}
		m, err = w.capture()
	}
	if err != nil {
		return err.Error()
	}
	result, ok := m.(*protocol.Result)
	if !ok {
		return fmt.Sprintf("%T", m)
	}
	screen, ok := result.Body.(*protocol.Captured)
	if !ok || screen.Size != size {
		return fmt.Sprintf("%+v, and not a screen of %v", result, size)
	}
	var rows []string
	for _, line := range screen.Lines.List[len(screen.Lines.List)-size.Rows:] {
		rows = append(rows, strings.TrimRight(line.Text, " "))
	}
	return strings.Join(rows, "\n")
}

// watched is a conversation whose windows are held to what the protocol promises.
type watched struct {
	ports.SessionServerConn
	w      *world
	offers atomic.Int64 // calls of SendNow

	mu      sync.Mutex
	epoch   uint64
	flying  map[uint64]int // states on their way, and their bytes
	bytes   int
	inputs  map[uint64]int // messages that were not acknowledged, and their bytes
	unacked int
}

func newWatched(w *world, conn ports.SessionServerConn) *watched {
	return &watched{SessionServerConn: conn, w: w, flying: map[uint64]int{}, inputs: map[uint64]int{}}
}

func (c *watched) Send(m protocol.SessionServerMessage) error {
	if out, ok := m.(*protocol.Output); ok {
		c.sending(out)
	}
	return c.SessionServerConn.Send(m)
}

// SendNow takes every second state, though it may have to wait on these links.
func (c *watched) SendNow(next func() protocol.SessionServerMessage) (bool, error) {
	if c.offers.Add(1)%2 == 0 {
		return false, nil
	}
	m := next()
	if m == nil {
		return true, nil
	}
	return true, c.Send(m)
}

func (c *watched) sending(out *protocol.Output) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for seq, n := range c.inputs {
		if seq <= out.InputAcked {
			delete(c.inputs, seq)
			c.unacked -= n
		}
	}
	if out.New == 0 {
		return
	}
	if out.Epoch != c.epoch {
		c.epoch, c.flying, c.bytes = out.Epoch, map[uint64]int{}, 0
	}
	n := 0
	for _, p := range out.Panes {
		n += len(p.Data)
	}
	c.flying[out.New] = n
	c.bytes += n
	if len(c.flying) > protocol.MaxOutputWindow {
		c.w.wrong("%d states are on their way, at most %d", len(c.flying), protocol.MaxOutputWindow)
	}
	if len(c.flying) > 1 && c.bytes > protocol.MaxOutputWindowBytes {
		c.w.wrong("states of %d bytes are on their way, at most %d", c.bytes, protocol.MaxOutputWindowBytes)
	}
}

func (c *watched) Receive() (protocol.SessionClientMessage, error) {
	m, err := c.SessionServerConn.Receive()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *protocol.Ack:
		for state, n := range c.flying {
			if m.Epoch == c.epoch && state <= m.State {
				delete(c.flying, state)
				c.bytes -= n
			}
		}
	case *protocol.Input:
		c.inputs[m.Seq] = len(m.Data)
		c.unacked += len(m.Data)
		if c.unacked > protocol.InputWindowBytes {
			c.w.wrong("input of %d bytes is on its way, at most %d", c.unacked, protocol.InputWindowBytes)
		}
	}
	return m, err
}

// settleTime is longer than the longest pause that a connection, or the client, may make between two attempts.
const settleTime = 5 * time.Minute

// leftBehind are the stacks of the bubble's other goroutines when everything was closed.
func leftBehind() string {
	synctest.Wait()
	buf := make([]byte, 4<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	_, bubble, _ := strings.Cut(firstLine(all[0]), "synctest bubble ")
	var left []string
	for _, stack := range all[1:] {
		if _, of, ok := strings.Cut(firstLine(stack), "synctest bubble "); ok && strings.TrimRight(of, "]:") == strings.TrimRight(bubble, "]:") &&
			!strings.Contains(stack, "testing/synctest.testingSynctestTest") && !strings.Contains(stack, "internal/synctest.Run") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

// unlessLeft is deferred around a bubble: what was wrong is known where goroutines are left, which makes the bubble panic.
func unlessLeft(problem *string) {
	if e := recover(); e != nil && *problem == "" {
		panic(e)
	}
}

// tellsTime has the program show what time it is, each time that every has passed, and a client attached to it across w; seen is
// told of each time that the client shows. leave ends both.
func tellsTime(t *testing.T, w *world, prog *program, every time.Duration, seen func(at time.Time)) (tty *terminal, leave func()) {
	tty = newTerminal(simSize, func(screen string) {
		if at, err := time.Parse(time.RFC3339Nano, firstLine(screen)); err == nil {
			seen(at)
		}
	})
	ended, stop := make(chan error, 1), make(chan struct{})
	go func() {
		_, err := client.Run(t.Context(), client.Options{
			Terminal: tty, Dialer: w, Far: true, Predict: predict.Never,
			Attach: protocol.Attach{Create: &protocol.Create{Name: "work"}, Size: simSize},
		})
		ended <- err
	}()
	w.all.Go(func() {
		for tick := time.NewTicker(every); ; {
			select {
			case <-tick.C:
				prog.print("\x1b[H" + time.Now().UTC().Format(time.RFC3339Nano) + "\x1b[K\r\n")
			case <-stop:
				tick.Stop()
				return
			}
		}
	})
	return tty, func() {
		close(stop)
		tty.press("\x1cd")
		require.NoError(t, <-ended)
	}
}

package netsim

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/app/daemon"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// clock is a program that floods: each millisecond it prints lines with the time and what no
// compressor makes small, and after an input a prompt. It reads its input, and it is a ports.Programs for itself.
type clock struct {
	start time.Time
	rng   *rand.Rand
	keys  chan []byte
	gone  chan struct{}
	once  sync.Once
	quiet bool // prints nothing of its own
}

func (c *clock) Start(domain.Command, domain.Size) (ports.Program, error) { return c, nil }

func (c *clock) Read(p []byte) (int, error) {
	tick := make(<-chan time.Time)
	if !c.quiet {
		tick = time.After(time.Millisecond)
	}
	select {
	case <-tick:
		b := p[:0]
		for range 10 {
			b = fmt.Appendf(b, "\r\n%d %016x%016x%016x", time.Since(c.start).Milliseconds(), c.rng.Uint64(), c.rng.Uint64(), c.rng.Uint64())
		}
		return len(b), nil
	case k := <-c.keys:
		c.quiet = k[0] == 3
		return copy(p, fmt.Appendf(nil, "\r\n%d prompt%q$ ", time.Since(c.start).Milliseconds(), k)), nil
	case <-c.gone:
		return 0, io.EOF
	}
}

func (c *clock) Write(p []byte) (int, error) {
	select {
	case c.keys <- append([]byte(nil), p...):
		return len(p), nil
	case <-c.gone:
		return 0, io.ErrClosedPipe
	}
}

func (c *clock) TryWrite([]byte) int       { return 0 }
func (c *clock) Resize(domain.Size) error  { return nil }
func (c *clock) Pid() int                  { return 1 }
func (c *clock) Command() []string         { return []string{"clock"} }
func (c *clock) Foreground() ports.Process { return ports.Process{} }
func (c *clock) Use() ports.TerminalUse    { return ports.TerminalUse{} }
func (c *clock) ForegroundGroup() int      { return 0 }
func (c *clock) Cwd() string               { return "/" }
func (c *clock) Wait() domain.ExitStatus   { <-c.gone; return domain.ExitStatus{} }
func (c *clock) Kill(context.Context)      { c.once.Do(func() { close(c.gone) }) }
func (c *clock) Close() error              { c.Kill(context.Background()); return nil }

// viewer is a client that shows what comes and acknowledges it at once.
type viewer struct {
	t    *testing.T
	conn *sessionwire.ClientConn
	p    *clock
	done chan struct{}
	seq  uint64
	// answers are those to requests for history, one at a time.
	answers chan protocol.Lines

	mu     sync.Mutex
	term   *vt.Terminal
	states int
	shown  func(newest time.Duration) // the time on the last line, at each state
}

var viewerSize = domain.Size{Cols: 80, Rows: 24}

// watchClock attaches a viewer to a clock at the far end of link.
func watchClock(t *testing.T, link *simnet.Link) (*viewer, func()) {
	p := &clock{start: time.Now(), rng: rand.New(rand.NewPCG(1, 2)), keys: make(chan []byte), gone: make(chan struct{})}
	d := daemon.New(daemon.Options{Programs: p})
	near, far := link.Connect()
	var served sync.WaitGroup
	served.Go(func() {
		talk, err := sessionwire.Server(far, "far")
		if err == nil {
			_ = d.Serve(context.Background(), talk)
		}
	})
	conn, err := sessionwire.Client(t.Context(), near, "near", protocol.FeaturePacked)
	require.NoError(t, err)
	v := &viewer{t: t, conn: conn, p: p, done: make(chan struct{}), answers: make(chan protocol.Lines, 1), term: vt.New(vt.Options{Cols: viewerSize.Cols, Rows: viewerSize.Rows})}
	require.NoError(t, conn.Send(&protocol.Attach{Size: viewerSize, Create: &protocol.Create{Name: "c", Command: domain.Command{Argv: []string{"clock"}, Dir: "/"}}}))
	go v.run()
	return v, func() {
		_ = conn.Close()
		<-v.done
		d.Close(context.Background())
		served.Wait()
	}
}

func (v *viewer) run() {
	defer close(v.done)
	for {
		m, err := v.conn.Receive()
		if err != nil {
			return
		}
		if r, ok := m.(*protocol.Result); ok {
			v.answers <- *r.Body.(*protocol.Lines)
			continue
		}
		out, ok := m.(*protocol.Output)
		if !ok || out.New == 0 {
			continue
		}
		v.mu.Lock()
		v.states++
		for _, p := range out.Panes {
			_, _ = v.term.Write(p.Data)
		}
		if at, ok := v.newest(); ok && v.shown != nil {
			v.shown(time.Since(v.p.start) - at)
		}
		v.mu.Unlock()
		_ = v.conn.Send(&protocol.Ack{Epoch: out.Epoch, State: out.New})
	}
}

// newest is the time on the cursor's line.
func (v *viewer) newest() (time.Duration, bool) {
	word, _, _ := strings.Cut(v.line(), " ")
	ms, err := strconv.Atoi(word)
	return time.Duration(ms) * time.Millisecond, err == nil
}

func (v *viewer) line() string {
	var b []byte
	for _, cell := range v.term.Row(v.term.Cursor().Row).Cells() {
		n := len(b)
		if b = v.term.AppendCell(b, cell); len(b) == n {
			b = append(b, ' ')
		}
	}
	return string(b)
}

// ages has each state's age handed to seen from now on.
func (v *viewer) ages(seen func(time.Duration)) {
	v.mu.Lock()
	v.shown = seen
	v.mu.Unlock()
}

// press types and waits until the answer is on the screen; it returns how long that took.
func (v *viewer) press(key string) time.Duration {
	start := time.Now()
	v.seq++
	require.NoError(v.t, v.conn.Send(&protocol.Input{Seq: v.seq, Data: []byte(key)}))
	for range 100_000 {
		v.mu.Lock()
		found := strings.Contains(v.line(), fmt.Sprintf("prompt%q$", key))
		v.mu.Unlock()
		if found {
			return time.Since(start)
		}
		time.Sleep(time.Millisecond / 4)
	}
	v.t.Fatalf("the answer to %q never showed", key)
	return 0
}

func slow(rtt time.Duration, bits int64) simnet.Conditions {
	return simnet.Conditions{Delay: rtt / 2, Rate: bits, Queue: 256 << 10}
}

// Whatever the link carries, the screen is never older than the way takes and a tenth of a
// second; the past is never queued, and Ctrl-C is answered as soon as the way allows.
func TestAFloodIsCurrentOnASlowLink(t *testing.T) {
	for _, c := range []struct {
		name string
		rtt  time.Duration
		bits int64
	}{{"50 ms, 1 Mbit/s", 50 * time.Millisecond, 1_000_000}, {"300 ms, 512 kbit/s", 300 * time.Millisecond, 512_000}, {"5 ms, 20 Mbit/s", 5 * time.Millisecond, 20_000_000}} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				link := simnet.NewLink(1, slow(c.rtt, c.bits), slow(c.rtt, c.bits))
				v, end := watchClock(t, link)
				defer end()
				time.Sleep(time.Second)
				var worst time.Duration
				v.ages(func(age time.Duration) { worst = max(worst, age) })
				time.Sleep(12 * time.Second)
				v.ages(nil)
				require.LessOrEqual(t, worst, c.rtt+100*time.Millisecond)
				require.Greater(t, v.states, 100, "and it moves")
				require.LessOrEqual(t, v.press("\x03"), 2*c.rtt+50*time.Millisecond)
			})
		})
	}
}

// A link that becomes five hundred times slower and fast again shows the past for a moment.
func TestTheLinkChanges(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const rtt = 40 * time.Millisecond
		fast, poor := slow(rtt, 100_000_000), slow(rtt, 200_000)
		link := simnet.NewLink(1, fast, fast)
		v, end := watchClock(t, link)
		defer end()
		var worst time.Duration
		measure := func() time.Duration {
			worst = 0
			v.ages(func(age time.Duration) { worst = max(worst, age) })
			time.Sleep(3 * time.Second)
			v.ages(nil)
			return worst
		}
		time.Sleep(time.Second)
		require.LessOrEqual(t, measure(), rtt+60*time.Millisecond)
		link.Set(poor, poor)
		time.Sleep(time.Second)
		require.LessOrEqual(t, measure(), rtt+150*time.Millisecond, "a state takes 40 ms of that link")
		link.Set(fast, fast)
		time.Sleep(500 * time.Millisecond)
		require.LessOrEqual(t, measure(), rtt+60*time.Millisecond)
	})
}

// History comes in pieces that the link carries in a moment: an echo does not wait for a screenful
// of it.
func TestHistoryDoesNotHoldAnEcho(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const rtt = 50 * time.Millisecond
		link := simnet.NewLink(1, slow(rtt, 1_000_000), slow(rtt, 1_000_000))
		v, end := watchClock(t, link)
		defer end()
		time.Sleep(3 * time.Second) // history gathers
		v.press("\x03")
		time.Sleep(time.Second)
		next := uint64(0)
		for i := range 30 {
			require.NoError(t, v.conn.Send(&protocol.Request{ID: uint64(i + 1), Body: &protocol.History{Session: "c", First: next, Count: 1000}}))
			time.Sleep(time.Millisecond)
			took := v.press("\x03")
			require.LessOrEqual(t, took, rtt+100*time.Millisecond)
			got := <-v.answers
			require.True(t, got.More)
			require.NotEmpty(t, got.List)
			if next > 0 {
				require.Equal(t, next, got.List[0].N, "no line is left out")
			}
			next = got.List[0].N + uint64(len(got.List))
		}
	})
}

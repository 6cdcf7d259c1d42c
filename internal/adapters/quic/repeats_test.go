package quic

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	quicgo "github.com/quic-go/quic-go"
	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// air is one end of a path for packets, in virtual time: each has its own fate and delay.
type air struct {
	in   chan []byte
	to   *air
	addr net.Addr
	done chan struct{}
	once sync.Once

	mu       sync.Mutex
	shaper   *simnet.Shaper
	c        simnet.Conditions
	mess     *rand.Rand // see disorder; nil: each packet comes once, in order
	deadline time.Time
	changed  chan struct{}
}

func newAir(seed uint64, c simnet.Conditions) (a, b *air) {
	end := func(port int) *air {
		return &air{
			in: make(chan []byte, 10_000), done: make(chan struct{}), changed: make(chan struct{}, 1),
			addr: &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1), Port: port}, shaper: simnet.NewShaper(seed + uint64(port)), c: c,
		}
	}
	a, b = end(1), end(2)
	a.to, b.to = b, a
	return a, b
}

func (a *air) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		a.mu.Lock()
		deadline := a.deadline
		a.mu.Unlock()
		var passed <-chan time.Time
		if !deadline.IsZero() {
			passed = time.After(time.Until(deadline))
		}
		select {
		case b := <-a.in:
			return copy(p, b), a.to.addr, nil
		case <-a.done:
			return 0, nil, net.ErrClosed
		case <-passed:
			return 0, nil, os.ErrDeadlineExceeded
		case <-a.changed:
		}
	}
}

func (a *air) WriteTo(p []byte, _ net.Addr) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	times := 1
	if a.mess != nil && a.mess.IntN(10) == 0 {
		times = 2
	}
	for range times {
		due, fate := a.shaper.Admit(a.c, time.Now(), len(p))
		if fate != simnet.Arrives {
			continue
		}
		wait := time.Until(due)
		if a.mess != nil {
			wait += time.Duration(a.mess.IntN(30)) * time.Millisecond
		}
		b := slices.Clone(p)
		time.AfterFunc(wait, func() {
			select {
			case a.to.in <- b:
			default:
			}
		})
	}
	return len(p), nil
}

func (a *air) Close() error {
	a.once.Do(func() { close(a.done) })
	return nil
}
func (a *air) LocalAddr() net.Addr { return a.addr }
func (a *air) SetReadDeadline(t time.Time) error {
	a.mu.Lock()
	a.deadline = t
	a.mu.Unlock()
	select {
	case a.changed <- struct{}{}:
	default:
	}
	return nil
}
func (a *air) SetDeadline(t time.Time) error    { return a.SetReadDeadline(t) }
func (a *air) SetWriteDeadline(time.Time) error { return nil }

// set changes what becomes of the packets that this end sends.
func (a *air) set(c simnet.Conditions) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.c = c
}

// disorder has packets overtake each other and come twice.
func (a *air) disorder(seed uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mess = rand.New(rand.NewPCG(seed, 1))
}

// pair is two ends of a connection.
type pair struct {
	t         testing.TB
	near, far *end
}

type end struct {
	air     *air
	conn    *quicgo.Conn
	repeats *repeats
	traffic traffic
}

// across connects two ends. The near one offers protos.
func across(t testing.TB, seed uint64, c simnet.Conditions, mess bool, protos ...string) *pair {
	near, far := newAir(seed, simnet.Conditions{Delay: c.Delay})
	id, err := newIdentity()
	require.NoError(t, err)
	p := &pair{t: t, near: &end{air: near}, far: &end{air: far}}
	server := &quicgo.Transport{Conn: far}
	client := &quicgo.Transport{Conn: near}
	l, err := server.Listen(id.serverTLS(func(tls.ConnectionState) error { return nil }), config())
	require.NoError(t, err)
	offers := id.clientTLS(func(tls.ConnectionState) error { return nil })
	if len(protos) > 0 {
		offers.NextProtos = protos
	}
	p.near.conn, err = client.Dial(t.Context(), far.addr, offers, clientConfig())
	require.NoError(t, err)
	p.far.conn, err = l.Accept(t.Context())
	require.NoError(t, err)
	for _, e := range []*end{p.near, p.far} {
		e.repeats = newRepeats(e.conn)
		e.air.set(c)
		if mess {
			e.air.disorder(seed)
		}
	}
	t.Cleanup(func() {
		_ = p.near.conn.CloseWithError(codeDone, "")
		_ = p.far.conn.CloseWithError(codeDone, "")
		p.near.repeats.wait()
		p.far.repeats.wait()
		_ = l.Close()
		_ = client.Close()
		_ = server.Close()
		_ = near.Close()
		_ = far.Close()
	})
	return p
}

func (e *end) wrap(qs *quicgo.Stream) *stream {
	s := newStream(qs, &e.traffic)
	e.repeats.enter(s)
	return s
}

// stream opens one and returns its ends.
func (p *pair) stream() (near, far *stream) {
	qs, err := p.near.conn.OpenStream()
	require.NoError(p.t, err)
	near = p.near.wrap(qs)
	_, err = near.Write([]byte{0})
	require.NoError(p.t, err)
	qs, err = p.far.conn.AcceptStream(context.Background())
	require.NoError(p.t, err)
	far = p.far.wrap(qs)
	_, err = io.ReadFull(far, make([]byte, 1))
	require.NoError(p.t, err)
	return near, far
}

const oneWay = 25 * time.Millisecond

// types has keys echoed, and says how long each took. An answer is told of, as an attachment does.
func (p *pair) types(keys int) (took []time.Duration) {
	near, far := p.stream()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		b := make([]byte, 20)
		for {
			if _, err := io.ReadFull(far, b); err != nil {
				return
			}
			if b[0] == 'k' {
				_, _ = far.Write(append(b[:20:20], make([]byte, 40)...))
			}
		}
	})
	sent := make([]time.Time, keys)
	all.Go(func() {
		b := make([]byte, 60)
		for range keys {
			if _, err := io.ReadFull(near, b); err != nil {
				p.t.Error(err)
				break
			}
			took = append(took, time.Since(sent[binary.BigEndian.Uint32(b[1:])]))
			_, _ = near.Write(append([]byte{'a'}, make([]byte, 19)...))
		}
		_ = near.Close()
		_ = far.Close()
	})
	for i := range keys {
		sent[i] = time.Now()
		b := make([]byte, 20)
		b[0] = 'k'
		binary.BigEndian.PutUint32(b[1:], uint32(i))
		_, err := near.Write(b)
		require.NoError(p.t, err)
		time.Sleep(60 * time.Millisecond)
	}
	all.Wait()
	return took
}

// quiet says that nothing runs to send repeats where none wait.
func (p *pair) quiet() {
	time.Sleep(time.Second)
	for _, e := range []*end{p.near, p.far} {
		if r := e.repeats; r != nil {
			r.mu.Lock()
			require.False(p.t, r.sending)
			r.mu.Unlock()
		}
	}
}

// overdue is how many took longer than a round trip and twice what a repeat waits.
func overdue(took []time.Duration) (n int) {
	for _, d := range took {
		if d > 2*oneWay+2*repeatDelay+time.Millisecond {
			n++
		}
	}
	return n
}

// A lost packet costs milliseconds, and not a probe timeout; with a peer that knows no repeats it does.
func TestALossIsHardlySeen(t *testing.T) {
	slow := map[string]int{}
	for _, proto := range []string{alpn, alpnRepeats} {
		bubble.Test(t, func(t *testing.T) {
			p := across(t, 1, simnet.Conditions{Delay: oneWay, Loss: 0.05}, false, proto)
			require.Equal(t, proto == alpnRepeats, p.near.repeats != nil)
			require.Equal(t, proto == alpnRepeats, p.far.repeats != nil)
			slow[proto] = overdue(p.types(1000))
			p.quiet()
		})
	}
	require.Greater(t, slow[alpn], 80)
	require.LessOrEqual(t, slow[alpnRepeats], slow[alpn]/5)
}

// Where nothing is lost nothing is repeated but at the beginning; one that speaks both agrees on repeats.
func TestNoLossNoRepeats(t *testing.T) {
	sent := func(protos ...string) (n uint64) {
		bubble.Test(t, func(t *testing.T) {
			p := across(t, 1, simnet.Conditions{Delay: oneWay}, false, protos...)
			require.Zero(t, overdue(p.types(1000)))
			n = p.near.conn.ConnectionStats().PacketsSent + p.far.conn.ConnectionStats().PacketsSent
		})
		return n
	}
	without, with := sent(alpn), sent()
	require.Greater(t, with, without)
	require.Less(t, with, without+2*newMemory)
}

// One that loses nothing repeats while the other side's packets are lost.
func TestALossOfTheOtherSideCounts(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := across(t, 1, simnet.Conditions{Delay: oneWay}, false)
		p.far.air.set(simnet.Conditions{Delay: oneWay, Loss: 0.05})
		p.types(500)
		r := p.near.repeats
		r.mu.Lock()
		defer r.mu.Unlock()
		require.Greater(t, r.losses.sent, uint64(newMemory))
		require.Zero(t, r.losses.last)
		require.True(t, r.losses.recent())
	})
}

// What was overtaken by its repeat was not lost.
func TestWhatIsOvertakenIsNotLost(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := across(t, 1, simnet.Conditions{Delay: oneWay}, true)
		p.types(500)
		for _, e := range []*end{p.near, p.far} {
			e.repeats.mu.Lock()
			missed := e.repeats.losses.missed
			e.repeats.mu.Unlock()
			require.Zero(t, missed)
		}
	})
}

// says writes what a seed gives in pieces of many sizes, with pauses, and closes.
func says(s *stream, seed uint64, total int) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for n := 0; n < total; {
		piece := 1 + rng.IntN(60)
		switch rng.IntN(20) {
		case 0:
			piece = maxRepeatBytes - 1 + rng.IntN(3)
		case 1:
			piece = 20_000
		}
		piece = min(piece, total-n)
		if _, err := s.Write(saying(seed, n, piece)); err != nil {
			return
		}
		n += piece
		time.Sleep(time.Duration(rng.IntN(40)) * time.Millisecond)
	}
	_ = s.qs.Close()
}

func saying(seed uint64, from, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte((uint64(from+i)*31 + uint64(from+i)>>8*7) ^ seed)
	}
	return b
}

// Whatever is lost, comes late or comes twice: what is read is what was written, to its end.
func TestStreamsStayWhole(t *testing.T) {
	for seed := range uint64(8) {
		bubble.Test(t, func(t *testing.T) {
			p := across(t, seed, simnet.Conditions{Delay: oneWay, Loss: 0.1}, true)
			var all sync.WaitGroup
			for i := range uint64(3) {
				near, far := p.stream()
				for j, s := range []*stream{near, far} {
					own, other := seed+10*i+uint64(j), seed+10*i+1-uint64(j)
					all.Go(func() { says(s, own, 60_000) })
					all.Go(func() {
						rng := rand.New(rand.NewPCG(own, 3))
						var got []byte
						for {
							b := make([]byte, 1+rng.IntN(200))
							n, err := s.Read(b)
							got = append(got, b[:n]...)
							if err != nil {
								require.Equal(t, io.EOF, err)
								break
							}
						}
						require.Equal(t, saying(other, 0, 60_000), got)
						require.Equal(t, s.arrivals.next, s.arrivals.came)
					})
				}
			}
			all.Wait()
		})
	}
}

// A stream that one side ends while repeats are on their way is over for both, and the others go on.
func TestAStreamEndsAmongRepeats(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := across(t, 4, simnet.Conditions{Delay: oneWay, Loss: 0.05}, true)
		beside, heard := p.stream()
		for i := range 60 {
			near, far := p.stream()
			var all sync.WaitGroup
			all.Go(func() { _, _ = io.Copy(io.Discard, far) })
			for range 5 {
				_, err := near.Write([]byte("some keys"))
				require.NoError(t, err)
				time.Sleep(5 * time.Millisecond)
			}
			switch i % 3 {
			case 0:
				require.NoError(t, near.Abort(protocol.Failure{Kind: fault.Limit}))
			case 1:
				require.NoError(t, near.Close())
			case 2:
				require.NoError(t, far.Close())
			}
			_, err := near.Read(make([]byte, 1))
			require.Error(t, err)
			require.NoError(t, near.Close())
			all.Wait()
			require.NoError(t, far.Close())
			_, err = far.Read(make([]byte, 1))
			require.Error(t, err)
		}
		time.Sleep(time.Second)
		for _, e := range []*end{p.near, p.far} {
			e.repeats.mu.Lock()
			require.Len(t, e.repeats.streams, 1)
			require.Empty(t, e.repeats.waiting)
			e.repeats.mu.Unlock()
		}
		_, err := beside.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(heard, make([]byte, 1))
		require.NoError(t, err)
	})
}

// What flows in bulk is not repeated, and what is small not beside it; a while later it is again.
func TestBulkIsNotRepeated(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := across(t, 1, simnet.Conditions{Delay: oneWay}, false)
		near, far := p.stream()
		bulk, taken := p.stream()
		waiting := func() int {
			p.near.repeats.mu.Lock()
			defer p.near.repeats.mu.Unlock()
			return len(near.outgoing.data) + len(bulk.outgoing.data)
		}
		write := func(s, other *stream, n int) int {
			_, err := s.Write(make([]byte, n))
			require.NoError(t, err)
			waits := waiting()
			_, err = io.ReadFull(other, make([]byte, n))
			require.NoError(t, err)
			return waits
		}
		time.Sleep(time.Second)
		_, err := near.Write(make([]byte, maxRepeatBytes))
		require.NoError(t, err)
		require.Equal(t, maxRepeatBytes, waiting())
		time.Sleep(time.Second)
		require.Zero(t, waiting(), "it was said")
		_, err = near.Write(make([]byte, maxRepeatBytes+1))
		require.NoError(t, err)
		require.Zero(t, waiting(), "too large")
		_, err = io.ReadFull(far, make([]byte, 2*maxRepeatBytes+1))
		require.NoError(t, err)
		require.Zero(t, write(bulk, taken, 30_000))
		require.Zero(t, write(near, far, 1), "beside bulk")
		time.Sleep(time.Second)
		_, err = near.Write([]byte("x"))
		require.NoError(t, err)
		require.Equal(t, 1, waiting())
	})
}

// A peer that breaks the rules of repeats is sent away; what is late or of no stream hurts nobody.
func TestARepeatThatNobodySends(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := across(t, 1, simnet.Conditions{Delay: oneWay}, false)
		near, far := p.stream()
		number := near.number()
		for _, r := range []repeat{
			{number + 400, 0, []byte("none")}, {number, 0, []byte{0}}, {number, 1 << 40, []byte("far")}, {number, 5, []byte("gap")},
		} {
			require.NoError(t, p.near.conn.SendDatagram(r.append(nil)))
		}
		require.NoError(t, p.near.conn.SendDatagram([]byte{datagramNothing}))
		time.Sleep(time.Second)
		_, err := near.Write([]byte("abcdefghij"))
		require.NoError(t, err)
		b := make([]byte, 4)
		_, err = io.ReadFull(far, b)
		require.NoError(t, err)
		require.Equal(t, "abcd", string(b))
		require.NoError(t, far.SetReadDeadline(time.Now()))
		require.NoError(t, p.near.conn.SendDatagram([]byte{datagramRepeat, 4}))
		<-p.near.conn.Context().Done()
		code, ok := endOf(context.Cause(p.near.conn.Context()))
		require.True(t, ok)
		require.EqualValues(t, codeBroken, code)
	})
}

// What came again does not outlive a deadline, and a deadline does not end because something came again.
func TestDeadlinesAndRepeats(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := across(t, 1, simnet.Conditions{Delay: oneWay}, false)
		near, far := p.stream()
		start := time.Now()
		require.NoError(t, far.SetReadDeadline(start.Add(time.Second)))
		time.AfterFunc(100*time.Millisecond, func() {
			_ = p.near.conn.SendDatagram((&repeat{near.number(), 1, []byte("ab")}).append(nil))
		})
		b := make([]byte, 8)
		n, err := far.Read(b)
		require.NoError(t, err)
		require.Equal(t, "ab", string(b[:n]))
		require.Equal(t, 100*time.Millisecond+oneWay, time.Since(start))
		_, err = far.Read(b)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, time.Second, time.Since(start))
		require.NoError(t, far.SetReadDeadline(time.Time{}))
		_, err = near.Write([]byte("ab"))
		require.NoError(t, err)
		time.AfterFunc(time.Second, func() { _, _ = near.Write([]byte("c")) })
		n, err = far.Read(b)
		require.NoError(t, err)
		require.Equal(t, "c", string(b[:n]), "what is known already is not read twice")
	})
}

package brokeripc

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// startFrame sends the head of a data frame of n bytes and the first of them.
func (p *scripted) startFrame(id protocol.StreamID, n, first int) {
	head := brokerwire.ClientRefs(p.scope, false).AppendDataHead(nil, id, n)
	b := binary.BigEndian.AppendUint32(nil, uint32(len(head)+n))
	_, err := p.rw.Write(append(append(b, head...), make([]byte, first)...))
	if err != nil {
		p.t.Error(err)
	}
}

// A stream is closed while a sibling's Read fills its buffer and the peer stalls midway: its own Read
// returns at once, the rest of the frame is dropped, the sibling goes on.
func TestCloseAmidAFrame(t *testing.T) {
	for name, plain := range map[string]bool{"deadlines": false, "none": true} {
		for _, n := range []int{100, smallFrame + 1, 40 << 10} {
			t.Run(name, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					a, b := simnet.Pipe(1 << 20)
					var carriage io.ReadWriteCloser = b
					if plain {
						carriage = simnet.Plain(b)
					}
					p, s := script(t, a, carriage)
					p.send(&protocol.OpenStream{Ref: p.ref(1)})
					p.send(&protocol.OpenStream{Ref: p.ref(2)})
					filled, leader := accept(t, s), accept(t, s)
					p.send(&protocol.StreamData{Ref: p.ref(2), Data: []byte("x")})
					_, err := leader.Read(make([]byte, 1)) // the keeper is out of the way
					require.NoError(t, err)
					var reads sync.WaitGroup
					reads.Go(func() {
						_, err := leader.Read(make([]byte, 1))
						require.NoError(t, err, "the sibling goes on")
					})
					synctest.Wait()
					released := false
					reads.Go(func() {
						_, err := filled.Read(make([]byte, 64<<10))
						require.Equal(t, fault.Canceled, fault.KindOf(err))
						released = true
					})
					synctest.Wait()
					p.startFrame(1, n, n/2)
					synctest.Wait()
					start := time.Now()
					require.NoError(t, filled.Close())
					synctest.Wait()
					require.True(t, released)
					require.Zero(t, s.Numbers().ParkedBytes)
					p.rw.Write(make([]byte, n-n/2))
					p.send(&protocol.StreamData{Ref: p.ref(2), Data: []byte("y")})
					reads.Wait()
					require.Zero(t, time.Since(start))
					require.True(t, filled.(*Stream).queue.empty(), "nothing is kept for nobody")
					p.rw.Close()
					<-s.Done()
				})
			})
		}
	}
}

// The Read that pumps meets its own stream's end, and right behind it the beginning of a
// sibling's frame, whose rest comes later.
func TestTheEndOfAStreamTakesNothingFromAnother(t *testing.T) {
	for _, n := range []int{100, smallFrame + 1, 40 << 10} {
		bubble.Test(t, func(t *testing.T) {
			p, s := scriptOn(t, 1<<20)
			p.send(&protocol.OpenStream{Ref: p.ref(1)})
			p.send(&protocol.OpenStream{Ref: p.ref(2)})
			ends, goesOn := accept(t, s), accept(t, s)
			p.send(&protocol.StreamData{Ref: p.ref(1), Data: []byte("x")})
			_, err := ends.Read(make([]byte, 1))
			require.NoError(t, err)
			var reads sync.WaitGroup
			reads.Go(func() {
				_, err := ends.Read(make([]byte, 1))
				require.Equal(t, io.EOF, err)
			})
			synctest.Wait()
			reads.Go(func() {
				_, err := io.ReadFull(goesOn, make([]byte, n))
				require.NoError(t, err)
			})
			synctest.Wait()
			whole := &half{Writer: new(bytes.Buffer)}
			carriage := p.rw
			p.rw = struct {
				io.Reader
				io.Writer
				io.Closer
			}{carriage, whole, carriage}
			p.send(&protocol.CloseStream{Ref: p.ref(1)})
			p.startFrame(2, n, 10)
			p.rw = carriage
			p.rw.Write(whole.Writer.(*bytes.Buffer).Bytes())
			synctest.Wait()
			p.rw.Write(make([]byte, n-10))
			reads.Wait()
			p.rw.Close()
			<-s.Done()
		})
	}
}

// The Read of a closed stream gives the turn up at once, also when it was only just given it.
func TestCloseOfTheReadThatPumps(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		cs, ss := open(t, c, s)
		sibling, siblingPeer := open(t, c, s)
		freeTurn(t, c.conn, cs, ss)
		var reads sync.WaitGroup
		for _, st := range []ports.Stream{cs, sibling} {
			reads.Go(func() { st.Read(make([]byte, 1)) })
			synctest.Wait()
		}
		_, leader := c.conn.turn()
		require.Same(t, leader, cs)
		start := time.Now()
		require.NoError(t, cs.Close())
		siblingPeer.Write([]byte("x"))
		reads.Wait()
		require.Zero(t, time.Since(start))
	})
}

// What waits for an answer has the carriage read at once, although a Read has just left the turn.
func TestAnswersDoNotWaitForTheKeeper(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		cs, ss := open(t, c, s)
		freeTurn(t, c.conn, cs, ss)
		start := time.Now()
		_, err := c.Stats(t.Context())
		require.NoError(t, err)
		require.Zero(t, time.Since(start))
	})
}

func (c *conn) turn() (taken bool, leader *Stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reading.taken, c.reading.leader
}

// freeTurn has a Read served that waits; whoever served it leaves the turn free.
func freeTurn(t *testing.T, c *conn, st, peer ports.Stream) {
	t.Helper()
	var read sync.WaitGroup
	read.Go(func() { st.Read(make([]byte, 1)) })
	synctest.Wait()
	peer.Write([]byte("x"))
	read.Wait()
	synctest.Wait() // the Read is served before who served it leaves the turn
	taken, _ := c.turn()
	require.False(t, taken)
}

// A turn that nobody takes up is the keeper's after a while: what the peer says is noticed
// although no Read is under way.
func TestTheKeeperTakesAFreeTurn(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		cs, ss := open(t, c, s)
		freeTurn(t, c.conn, cs, ss)
		ss.Close()
		time.Sleep(3 * takeOver)
		require.Zero(t, c.Numbers().Streams)
	})
}

// A sibling that drains, or is closed, lets a connection be read again that parked too much.
func TestDrainingResumesWaitingReads(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		c.conn.mu.Lock()
		c.conn.opts.parked = 100 << 10
		c.conn.mu.Unlock()
		hog, hogPeer := open(t, c, s)
		waits, waitsPeer := open(t, c, s)
		hogPeer.Write(make([]byte, 128<<10))
		time.Sleep(time.Second)
		require.Greater(t, c.Numbers().ParkedBytes, uint64(100<<10))
		var read sync.WaitGroup
		read.Go(func() {
			_, err := waits.Read(make([]byte, 1))
			require.NoError(t, err)
		})
		waitsPeer.Write([]byte("x"))
		time.Sleep(time.Second)
		start := time.Now()
		require.NoError(t, hog.Close())
		read.Wait()
		require.Zero(t, time.Since(start))
	})
}

// After the peer's orderly close, what nobody will read is given back by Close.
func TestCloseAfterThePeersClose(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		cs, ss := open(t, c, s)
		ss.Write(make([]byte, 10000))
		ss.Close()
		time.Sleep(time.Second)
		require.EqualValues(t, cost(10000), c.Numbers().ParkedBytes)
		require.NoError(t, cs.Close())
		require.Zero(t, c.Numbers().ParkedBytes)
		_, err := cs.Read(make([]byte, 1))
		require.Error(t, err)
	})
}

func TestFramesOfAStreamKeepTheirOrder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<20)
		for id := protocol.StreamID(1); id <= 16; id++ {
			p.send(&protocol.OpenStream{Ref: p.ref(id)})
			st := accept(t, s)
			n := 1 << id
			_, err := st.Write(make([]byte, n)) // the flusher has not run yet
			require.NoError(t, err)
			require.NoError(t, st.Close())
			require.Equal(t, id, wants[*protocol.StreamOpened](p, "granted first").Ref.ID)
			require.Len(t, wants[*protocol.StreamData](p, "then data").Data, n)
			wants[*protocol.StreamClosed](p, "then the end")
		}
		p.rw.Close()
		<-s.Done()
	})
}

// A Write that waits for its turn is released by Close and loses nobody else's turn, whether
// it was still in line or had just been given the turn.
func TestCloseOfAWriteInLine(t *testing.T) {
	for name, granted := range map[string]bool{"in line": false, "granted": true} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				a, b := simnet.Pipe(1 << 10)
				c, s := connect(t, a, b)
				defer part(c, s)
				var writes sync.WaitGroup
				var streams, peers []ports.Stream
				for range 3 {
					cs, ss := open(t, c, s)
					streams, peers = append(streams, cs), append(peers, ss)
				}
				synctest.Wait() // the flusher has left the turn: what it sent last may be read before it has
				s.conn.mu.Lock()
				s.conn.writing.taken = true // somebody writes
				s.conn.mu.Unlock()
				for i, st := range peers {
					writes.Go(func() {
						n, err := st.Write(make([]byte, 200<<10))
						if i == 1 {
							require.Equal(t, fault.Canceled, fault.KindOf(err))
							require.Less(t, n, 200<<10)
							return
						}
						require.NoError(t, err)
					})
					synctest.Wait()
				}
				if granted {
					s.conn.mu.Lock()
					s.conn.writing.turns.leave(peers[0].(*Stream))
					s.conn.leaveWriting()
					next := peers[1].(*Stream).granted
					s.conn.writing.turns.wait(peers[0].(*Stream), 64<<10)
					s.conn.settle(peers[1].(*Stream), fault.New(fault.Canceled, "settled"))
					s.conn.mu.Unlock()
					require.True(t, next)
				} else {
					require.NoError(t, peers[1].Close())
					s.conn.mu.Lock()
					s.conn.leaveWriting()
					s.conn.mu.Unlock()
				}
				for _, i := range []int{0, 2} {
					go io.Copy(io.Discard, streams[i])
				}
				writes.Wait()
				for _, st := range streams {
					st.Close()
				}
			})
		})
	}
}

// hooked calls before with the number of each write.
type hooked struct {
	io.ReadWriteCloser
	writes int
	before func(n int)
}

func (h *hooked) Write(p []byte) (int, error) {
	h.writes++
	h.before(h.writes)
	return h.ReadWriteCloser.Write(p)
}

// Control messages that come while others are being sent are not forgotten.
func TestNothingUnsentIsForgotten(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(1 << 16)
		h := &hooked{ReadWriteCloser: b, before: func(int) {}}
		c, s := connect(t, a, h)
		defer part(c, s)
		var streams, peers []ports.Stream
		for range 6 {
			cs, ss := open(t, c, s)
			streams, peers = append(streams, cs), append(peers, ss)
		}
		synctest.Wait()
		h.writes = 0
		h.before = func(n int) {
			if n < len(peers) {
				peers[n].Close()
			}
		}
		_, err := peers[0].Write([]byte("x"))
		require.NoError(t, err)
		for _, st := range streams[1:] {
			_, err := st.Read(make([]byte, 1))
			require.Equal(t, io.EOF, err)
		}
	})
}

// While the carriage is busy no more than a quantum of data is copied to go before others.
func TestOvertakingIsBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		var peers []ports.Stream
		for range 20 {
			_, ss := open(t, c, s)
			peers = append(peers, ss)
		}
		synctest.Wait() // the flusher has left the turn
		w := &s.conn.writing
		s.conn.mu.Lock()
		w.taken = true
		s.conn.mu.Unlock()
		var writes sync.WaitGroup
		for _, st := range peers {
			writes.Go(func() { st.Write(make([]byte, 5000)) })
		}
		synctest.Wait()
		s.conn.mu.Lock()
		overtaking, unsent, room := w.overtaking, len(w.unsent), cap(w.unsent)
		s.conn.leaveWriting()
		s.conn.mu.Unlock()
		require.Equal(t, maxOvertaking/5000*5000, overtaking)
		require.LessOrEqual(t, unsent, sharedBuffer)
		require.Equal(t, sharedBuffer, room)
		writes.Wait()
		synctest.Wait()
		s.conn.mu.Lock()
		kept := cap(w.unsent) + cap(s.conn.out.buf)
		s.conn.mu.Unlock()
		require.LessOrEqual(t, kept, 2*keptBuffer, "nothing large is kept")
	})
}

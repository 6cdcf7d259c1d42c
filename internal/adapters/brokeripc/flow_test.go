package brokeripc

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// A sender and a receiver that follow flow.go, with everything under way between them: never
// is more than a window held, and when all is read and delivered a sender of the largest frame
// may go on.
func TestCreditModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		maxPayload := rapid.IntRange(1, 200).Draw(t, "largest payload")
		window := rapid.Int64Range(cost(maxPayload), 4*cost(maxPayload)).Draw(t, "window")
		send, recv := newSendWindow(window), newRecvWindow(window, cost(maxPayload))
		var flying, held []int64 // costs of frames
		var grants []int64
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				c := cost(rapid.IntRange(0, maxPayload).Draw(t, "payload"))
				before := send.credit
				if send.spend(c) {
					flying = append(flying, c)
				} else if before >= c || send.credit != before {
					t.Fatalf("%d of %d was not spent", c, before)
				}
			},
			"arrive": func(t *rapid.T) {
				if len(flying) == 0 {
					t.Skip()
				}
				if !recv.receive(flying[0]) {
					t.Fatalf("a sender within its window was refused: %+v", recv)
				}
				held, flying = append(held, flying[0]), flying[1:]
			},
			"read": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip()
				}
				if g := recv.consume(held[0]); g > 0 {
					grants = append(grants, g)
				}
				held = held[1:]
			},
			"grant": func(t *rapid.T) {
				if len(grants) == 0 {
					t.Skip()
				}
				if !send.grant(grants[0]) {
					t.Fatalf("a due grant was refused: %d to %+v", grants[0], send)
				}
				grants = grants[1:]
			},
			"": func(t *rapid.T) {
				all := send.credit + recv.earned
				var unread int64
				for _, c := range held {
					unread += c
				}
				for _, c := range append(flying, grants...) {
					all += c
				}
				if all+unread != window {
					t.Fatalf("%d of %d is accounted for", all+unread, window)
				}
				if unread > window || recv.left+recv.earned+unread != window && len(flying) == 0 && len(grants) == 0 {
					t.Fatalf("%d is held, window %d: %+v", unread, window, recv)
				}
				if len(flying)+len(held)+len(grants) == 0 && send.credit < cost(maxPayload) {
					t.Fatalf("stuck with credit %d for %d", send.credit, cost(maxPayload))
				}
			},
		})
	})
}

func TestWindowEdges(t *testing.T) {
	s := newSendWindow(1000)
	require.False(t, s.grant(1), "nothing was spent")
	require.True(t, s.spend(1000))
	require.False(t, s.spend(1))
	require.False(t, s.grant(0))
	require.False(t, s.grant(-5))
	require.False(t, s.grant(1001))
	require.True(t, s.grant(1000))

	r := newRecvWindow(1000, 100)
	require.EqualValues(t, 500, r.batch)
	require.False(t, r.receive(1001))
	require.True(t, r.receive(1000))
	require.False(t, r.receive(1))
	require.Zero(t, r.consume(499))
	require.EqualValues(t, 500, r.consume(1))
	require.EqualValues(t, 1, newRecvWindow(100, 100).batch)
	require.EqualValues(t, 11, newRecvWindow(100, 90).batch)
}

// cheat sends data frames that no window covers.
func (p *scripted) cheat(id protocol.StreamID, total int) {
	for chunk := make([]byte, protocol.MaxChunkBytes); total > 0; total -= len(chunk) {
		p.send(&protocol.StreamData{Ref: p.ref(id), Data: chunk})
	}
}

func TestAPeerThatIgnoresCreditLosesThatStreamOnly(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<16)
		for id := protocol.StreamID(1); id <= 2; id++ {
			p.send(&protocol.OpenStream{Ref: p.ref(id)})
		}
		flooded, sibling := accept(t, s), accept(t, s)
		go p.cheat(1, protocol.StreamWindowBytes+protocol.MaxChunkBytes)
		wants[*protocol.StreamOpened](p, "granted")
		wants[*protocol.StreamOpened](p, "granted")
		m := wants[*protocol.StreamClosed](p, "the stream is settled")
		require.EqualValues(t, 1, m.Ref.ID)
		require.Equal(t, fault.Violation, m.Failure.Kind)
		require.Contains(t, m.Failure.Text, "flow control")
		_, err := flooded.Read(make([]byte, 1))
		require.Equal(t, fault.Violation, fault.KindOf(err))
		synctest.Wait()
		require.Zero(t, s.Numbers().ParkedBytes, "what it sent is dropped")
		require.EqualValues(t, 1, s.Numbers().FlowErrors)

		p.send(&protocol.StreamData{Ref: p.ref(1), Data: []byte("late")}) // for a closed stream: discarded
		p.send(&protocol.StreamData{Ref: p.ref(2), Data: []byte("hello")})
		got := make([]byte, 5)
		_, err = io.ReadFull(sibling, got)
		require.NoError(t, err)
		require.Equal(t, "hello", string(got))
		p.rw.Close()
		<-s.Done()
	})
}

func TestImpossibleGrantsSettleTheStream(t *testing.T) {
	for name, credit := range map[string]uint32{"zero": 0, "one too many": 1, "beyond the window": protocol.StreamWindowBytes + 1, "huge": 1<<32 - 1} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				p, s := scriptOn(t, 1<<16)
				p.send(&protocol.OpenStream{Ref: p.ref(1)})
				st := accept(t, s)
				wants[*protocol.StreamOpened](p, "granted")
				p.send(&protocol.StreamWindowUpdate{Ref: p.ref(1), Credit: credit})
				require.Contains(t, wants[*protocol.StreamClosed](p, "settled").Failure.Text, "flow control")
				_, err := st.Write([]byte("x"))
				require.Equal(t, fault.Violation, fault.KindOf(err))
				p.send(&protocol.OpenStream{Ref: p.ref(2)})
				accept(t, s)
				wants[*protocol.StreamOpened](p, "the connection goes on")
				p.rw.Close()
				<-s.Done()
			})
		})
	}
}

func TestAnOversizeChunkSettlesTheStream(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<16)
		p.send(&protocol.OpenStream{Ref: p.ref(1)})
		p.send(&protocol.OpenStream{Ref: p.ref(2)})
		accept(t, s)
		sibling := accept(t, s)
		go p.send(&protocol.StreamData{Ref: p.ref(1), Data: make([]byte, protocol.MaxChunkBytes+1)})
		wants[*protocol.StreamOpened](p, "granted")
		wants[*protocol.StreamOpened](p, "granted")
		require.Contains(t, wants[*protocol.StreamClosed](p, "settled").Failure.Text, "65537 bytes is 1 over the limit of 65536")
		p.send(&protocol.StreamData{Ref: p.ref(2), Data: []byte("x")})
		_, err := sibling.Read(make([]byte, 1))
		require.NoError(t, err)
		p.rw.Close()
		<-s.Done()
	})
}

// A frame whose encoding is legal but not ours takes the other way and means the same.
func TestUnusualDataIsCharged(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<16)
		p.send(&protocol.OpenStream{Ref: p.ref(1)})
		st := accept(t, s)
		wants[*protocol.StreamOpened](p, "granted")
		p.send(&protocol.StreamData{Ref: p.ref(1)}) // empty
		for _, n := range []int{1, smallFrame, smallFrame + 1, protocol.MaxChunkBytes} {
			go p.sendUnusual(1, bytes.Repeat([]byte{7}, n))
			got := make([]byte, n)
			_, err := io.ReadFull(st, got)
			require.NoError(t, err)
			require.Equal(t, bytes.Repeat([]byte{7}, n), got)
		}
		require.Zero(t, s.Numbers().ParkedBytes)
		require.EqualValues(t, 5, s.Numbers().FramesIn)
		p.rw.Close()
		<-s.Done()
	})
}

func TestASlowReaderDelaysNobody(t *testing.T) {
	const streams, each = 24, 512 << 10
	for name, buffer := range map[string]int{"small carriage": 4 << 10, "socket": 200 << 10} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				c, s := connectOn(t, buffer)
				defer part(c, s)
				echo, echoPeer := open(t, c, s)
				go io.Copy(echoPeer, echoPeer)
				var unread []ports.Stream
				for i := range streams {
					cs, ss := open(t, c, s)
					unread = append(unread, cs)
					go func() {
						ss.Write(bytes.Repeat([]byte{byte(i)}, each))
						ss.Close()
					}()
				}
				start := time.Now()
				p := make([]byte, 10)
				for range 200 {
					_, err := echo.Write(p)
					require.NoError(t, err)
					_, err = io.ReadFull(echo, p)
					require.NoError(t, err)
				}
				require.Less(t, time.Since(start), 100*time.Millisecond, "virtual time: nothing waits for a timer")
				time.Sleep(time.Second)
				require.EqualValues(t, streams*(each+each/protocol.MaxChunkBytes*protocol.StreamChunkCredit), c.Numbers().ParkedBytes)
				require.Zero(t, c.Numbers().FlowErrors)
				for i, st := range unread {
					got, err := io.ReadAll(st)
					require.NoError(t, err)
					require.Equal(t, each, bytes.Count(got, []byte{byte(i)}))
				}
				require.Zero(t, c.Numbers().ParkedBytes)
			})
		})
	}
}

// A connection that parks too much is not read until it drains, and then it is.
func TestParkedBytesAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<10)
		defer part(c, s)
		const bound = 256 << 10
		c.conn.mu.Lock()
		c.conn.opts.parked = bound
		c.conn.mu.Unlock()
		const streams, each = 4, 200 << 10
		var all, peers []ports.Stream
		for range streams {
			cs, ss := open(t, c, s)
			all, peers = append(all, cs), append(peers, ss)
		}
		for i, ss := range peers {
			go func() {
				ss.Write(bytes.Repeat([]byte{byte(i)}, each))
				ss.Close()
			}()
		}
		time.Sleep(time.Second)
		held := c.Numbers().ParkedBytes
		require.Greater(t, held, uint64(bound))
		require.LessOrEqual(t, held, uint64(bound+cost(protocol.MaxChunkBytes)), "at most one frame beyond")
		var readers sync.WaitGroup
		for i, st := range all {
			readers.Go(func() {
				got, err := io.ReadAll(st)
				assert.NoError(t, err)
				assert.Equal(t, each, bytes.Count(got, []byte{byte(i)}))
			})
		}
		readers.Wait()
	})
}

// Two floods, each way at once, through a carriage that holds next to nothing: a reader that
// waited for a writer would stop both ends.
func TestBothEndsFloodThroughATinyCarriage(t *testing.T) {
	carriages(t, func(t *testing.T, a, b io.ReadWriteCloser) {
		c, s := connect(t, a, b)
		defer part(c, s)
		const each = 300 << 10
		done := make(chan error)
		run := func(st ports.Stream) {
			go func() {
				_, err := st.Write(make([]byte, each))
				done <- err
			}()
			go func() {
				_, err := io.ReadFull(st, make([]byte, each))
				done <- err
			}()
		}
		for range 3 {
			cs, ss := open(t, c, s)
			run(cs)
			run(ss)
		}
		for range 3 * 4 {
			require.NoError(t, <-done)
		}
	})
}

// Neither end has a Read under way; both only write more than the carriage holds.
func TestWritersAloneDoNotDeadlock(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 64)
		defer part(c, s)
		cs, ss := open(t, c, s)
		done := make(chan error)
		for _, st := range []ports.Stream{cs, ss} {
			go func() {
				for range 100 {
					if _, err := st.Write(make([]byte, 10000)); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		require.NotZero(t, c.Numbers().ParkedBytes)
	})
}

func TestCreditComesBackBatched(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<20)
		p.send(&protocol.OpenStream{Ref: p.ref(1)})
		st := accept(t, s)
		wants[*protocol.StreamOpened](p, "granted")
		buf := make([]byte, protocol.MaxChunkBytes)
		sent := int64(0)
		for sent < protocol.StreamWindowBytes/2 {
			p.send(&protocol.StreamData{Ref: p.ref(1), Data: buf})
			sent += cost(len(buf))
			_, err := io.ReadFull(st, buf)
			require.NoError(t, err)
		}
		m := wants[*protocol.StreamWindowUpdate](p, "one grant for half a window")
		require.EqualValues(t, sent, m.Credit)
		require.Zero(t, s.Numbers().CreditOwedBytes)
		p.rw.Close()
		<-s.Done()
	})
}

// Half a frame read earns nothing.
func TestCreditIsEarnedByWholeFrames(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<20)
		defer part(c, s)
		cs, ss := open(t, c, s)
		_, err := cs.Write(make([]byte, 10000))
		require.NoError(t, err)
		_, err = io.ReadFull(ss, make([]byte, 9999))
		require.NoError(t, err)
		require.Zero(t, s.Numbers().CreditOwedBytes)
		require.EqualValues(t, cost(10000), s.Numbers().ParkedBytes)
		_, err = io.ReadFull(ss, make([]byte, 1))
		require.NoError(t, err)
		require.EqualValues(t, cost(10000), s.Numbers().CreditOwedBytes)
		require.Zero(t, s.Numbers().ParkedBytes)
	})
}

func TestViolationsEndTheConnection(t *testing.T) {
	for name, tc := range map[string]struct {
		send func(p *scripted)
		want string
	}{
		"never opened":         {func(p *scripted) { p.send(&protocol.StreamData{Ref: p.ref(5), Data: []byte("x")}) }, "stream 5, which was never opened"},
		"window, never opened": {func(p *scripted) { p.send(&protocol.StreamWindowUpdate{Ref: p.ref(5), Credit: 1}) }, "stream 5, which was never opened"},
		"still opening": {func(p *scripted) {
			p.send(&protocol.OpenStream{Ref: p.ref(2)})
			p.send(&protocol.StreamData{Ref: p.ref(2), Data: []byte("x")})
		}, "still opening"},
		"id again":         {func(p *scripted) { p.send(&protocol.OpenStream{Ref: p.ref(1)}) }, "stream id 1 after 1"},
		"other connection": {func(p *scripted) { p.scope.BrokerEpoch++; p.send(&protocol.CloseStream{Ref: p.ref(1)}) }, "another connection"},
		"other, data": {func(p *scripted) {
			p.scope.BrokerEpoch++
			p.send(&protocol.StreamData{Ref: p.ref(1), Data: []byte("x")})
		}, "another connection"},
		"register again":  {func(p *scripted) { p.send(&protocol.Register{}) }, "Register after registration"},
		"no frame":        {func(p *scripted) { p.rw.Write(make([]byte, 4)) }, "length 0"},
		"too long":        {func(p *scripted) { p.rw.Write([]byte{0, 0x10, 0, 1}) }, "1 over the limit of 1048576"},
		"unknown":         {func(p *scripted) { p.rw.Write([]byte{0, 0, 0, 3, 0xf2, 0x07, 0}) }, "unknown message 126"},
		"wrong direction": {func(p *scripted) { p.rw.Write([]byte{0, 0, 0, 3, 0xca, 0x0c, 0}) }, "wrong direction"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				p, s := scriptOn(t, 1<<16)
				p.send(&protocol.OpenStream{Ref: p.ref(1)})
				st := accept(t, s)
				wants[*protocol.StreamOpened](p, "granted")
				tc.send(p)
				reason := wants[*protocol.Shutdown](p, "the peer learns why").Reason
				require.Equal(t, fault.Violation, reason.Kind)
				require.Contains(t, reason.Text, tc.want)
				p.wantEnd("and that is the end")
				_, err := st.Read(make([]byte, 1))
				require.Equal(t, fault.Violation, fault.KindOf(err))
				<-s.Done()
				_, err = s.Accept(t.Context())
				require.Equal(t, fault.Violation, fault.KindOf(err))
			})
		})
	}
}

func TestASecondPreambleIsRejected(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<16)
		go p.preamble()
		body, err := p.rd.ReadFrame(protocol.MaxPreambleBytes)
		require.NoError(t, err)
		require.Contains(t, fmt.Sprintf("%q", body), "a second preamble")
		p.wantEnd("nothing follows")
		<-s.Done()
	})
}

func TestBrokersViolations(t *testing.T) {
	for name, m := range map[string]func(p *scripted) protocol.BrokerServerMessage{
		"opened, never asked": func(p *scripted) protocol.BrokerServerMessage { return &protocol.StreamOpened{Ref: p.ref(3)} },
		"closed, never asked": func(p *scripted) protocol.BrokerServerMessage { return &protocol.StreamClosed{Ref: p.ref(3)} },
		"result unasked": func(p *scripted) protocol.BrokerServerMessage {
			return &protocol.BrokerStats{Operation: protocol.OperationID{1}}
		},
		"snapshot unasked": func(p *scripted) protocol.BrokerServerMessage {
			return &protocol.SnapshotPart{Part: protocol.SnapshotBegin{}}
		},
		"error unasked": func(p *scripted) protocol.BrokerServerMessage { return &protocol.BrokerError{} },
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				c, p := scriptBrokerOn(t, 1<<16)
				p.send(m(p))
				<-c.Done()
				require.Equal(t, fault.Violation, fault.KindOf(c.Err()))
				p.rw.Close()
			})
		})
	}
}

// A client that asks for ever and reads no answer must not make the broker keep them all.
func TestUnreadAnswersEndTheConnection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<10)
		asked := 0
		go func() {
			for ; ; asked++ {
				if _, err := p.rw.Write([]byte{0, 0, 0, 3, 0xb2, 0x06, 0}); err != nil { // Subscribe
					return
				}
			}
		}()
		<-s.Done()
		require.Equal(t, fault.Limit, fault.KindOf(s.conn.cause()))
		synctest.Wait()
		require.Less(t, asked, maxUnsent/40, "each is answered with more than 40 bytes")
		p.rw.Close()
	})
}

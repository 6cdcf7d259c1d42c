package client

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

func TestKeysArriveUnchanged(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		var all []byte
		for b := range 256 {
			if byte(b) != DefaultLeader {
				all = append(all, byte(b))
			}
		}
		a.types(string(all))
		require.Equal(t, string(all), a.daemon.typed())
	})
}

func TestOneKeyIsOneMessage(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		for i := range 10 {
			a.types("x")
			require.Equal(t, i+1, a.daemon.inputs)
		}
	})
}

// window is what the client has sent and the daemon has not acknowledged.
func TestInputWindow(t *testing.T) {
	attached(t, func(a *attachment) { a.daemon.mute = true }, func(a *attachment) {
		a.types(strings.Repeat("x", 1<<20))
		require.Equal(t, protocol.InputWindowBytes, len(a.daemon.typed()))
		a.term.mu.Lock()
		require.Len(t, a.term.typed, terminalBuffer, "what does not fit stays with the terminal")
		a.term.mu.Unlock()

		a.daemon.set(func() { a.daemon.mute = false })
		a.daemon.mu.Lock()
		a.daemon.written = a.daemon.received
		a.daemon.post(a.daemon.conn, &protocol.Output{InputAcked: a.daemon.written})
		a.daemon.mu.Unlock()
		a.daemon.await(1 << 20)
		require.Equal(t, 1<<20, len(a.daemon.typed()))
	})
}

func TestLookaheadFindsTheLeaderBehindAFullWindow(t *testing.T) {
	for _, n := range []int{protocol.InputWindowBytes, protocol.InputWindowBytes + lookaheadBytes - 2} {
		attached(t, func(a *attachment) { a.daemon.mute = true }, func(a *attachment) {
			a.types(strings.Repeat("x", n) + lead + "d")
			r, err := a.ends(time.Second)
			require.NoError(t, err)
			require.Equal(t, protocol.EndDetached, r.Reason)
			require.Equal(t, protocol.InputWindowBytes, len(a.daemon.typed()))
		})
	}
	attached(t, func(a *attachment) { a.daemon.mute = true }, func(a *attachment) {
		a.types(strings.Repeat("x", protocol.InputWindowBytes+lookaheadBytes) + lead + "d")
		select {
		case <-a.done:
			t.Error("read beyond the bound")
		case <-time.After(time.Hour):
		}
	})
}

func TestLeaderWorksWhenTheCarriageTakesNothing(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.daemon.set(func() { a.daemon.deaf = true })
		a.types("x")                   // the daemon's goroutine is still to fall deaf
		for range 4 * directMessages { // more than the carriage takes
			a.types(strings.Repeat("y", 500))
		}
		a.types(lead + "d")
		r, err := a.ends(2 * byeGrace)
		require.NoError(t, err)
		require.Equal(t, protocol.EndDetached, r.Reason)
		require.True(t, a.term.left())
	})
}

// Over a link the acknowledgement of a small state goes with that of the next, or after a while, and
// says how long the newest waited; on this machine with those of more; of a large state at once.
func TestAcknowledgementsOfSmallStatesWait(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, p := new(contact), newPipe()
		o := newOutbox(c, make(chan struct{}, 1))
		require.NoError(t, o.begin(p, 0))
		done := make(chan struct{})
		go o.send(done)
		defer close(done)
		defer o.end(p)
		got := func() []protocol.Ack {
			synctest.Wait()
			var acks []protocol.Ack
			for len(p.toDaemon) > 0 {
				acks = append(acks, *(<-p.toDaemon).(*protocol.Ack))
			}
			return acks
		}
		ack := func(n uint64) protocol.Ack { return protocol.Ack{Epoch: 1, State: n} }
		o.applied(ack(1), 10)
		require.Equal(t, []protocol.Ack{ack(1)}, got(), "nothing says that it is far")
		c.begin(time.Now(), 50*time.Millisecond)
		o.applied(ack(2), smallState)
		require.Equal(t, []protocol.Ack{ack(2)}, got(), "large")
		o.applied(ack(3), smallState-1)
		require.Empty(t, got())
		time.Sleep(holdAck / 2)
		o.applied(ack(4), 10)
		require.Equal(t, []protocol.Ack{ack(4)}, got(), "both")
		o.applied(ack(5), 10)
		time.Sleep(holdAck - time.Millisecond)
		require.Empty(t, got())
		time.Sleep(time.Millisecond)
		last := ack(5)
		last.Held = holdAck
		require.Equal(t, []protocol.Ack{last}, got())
		time.Sleep(time.Second)
		require.Empty(t, got())

		*c = contact{}
		c.begin(time.Now(), farRTT-1)
		n := uint64(6)
		for ; n < 5+nearStates; n++ {
			o.applied(ack(n), smallState-1)
			require.Empty(t, got())
		}
		o.applied(ack(n), 10)
		require.Equal(t, []protocol.Ack{ack(n)}, got(), "as many as wait")
		o.applied(ack(n+1), 10)
		time.Sleep(holdAck / 2)
		o.applied(ack(n+2), 10)
		time.Sleep(holdAck / 2)
		last = ack(n + 2)
		last.Held = holdAck / 2
		require.Equal(t, []protocol.Ack{last}, got(), "that of the first is due")
		o.applied(ack(n+3), 10)
		o.applied(ack(n+4), smallState)
		require.Equal(t, []protocol.Ack{ack(n + 4)}, got(), "large")
		time.Sleep(time.Second)
		require.Empty(t, got())
	})
}

func TestStaleAcknowledgementIsNotSentToTheNextConversation(t *testing.T) {
	o, first, next := newOutbox(new(contact), make(chan struct{}, 1)), newPipe(), newPipe()
	require.NoError(t, o.begin(first, 0))
	o.end(first)
	o.applied(protocol.Ack{Epoch: 1, State: 1}, 0)
	require.NoError(t, o.begin(next, 0))
	o.flush(true)
	require.Empty(t, next.toDaemon)
}

func TestFailedSendEndsTheConversation(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		close(a.daemon.conn.last) // sends fail, and nothing comes
		<-a.daemon.conn.served
		a.types("x")
		require.Equal(t, 2, a.daemon.dialed())
		require.Equal(t, "x", a.daemon.typed())
	})
}

func TestNoConversationBeginsAfterTheEnd(t *testing.T) {
	o := newOutbox(new(contact), make(chan struct{}, 1))
	o.close()
	require.Equal(t, fault.Canceled, fault.KindOf(o.begin(newPipe(), 0)))
	require.Nil(t, o.current())
}

func TestManyKeysInFlightAreFewMessages(t *testing.T) {
	attached(t, func(a *attachment) { a.daemon.mute = true }, func(a *attachment) {
		for range 3 * maxUnacked {
			a.types("k")
		}
		require.Equal(t, maxUnacked, a.daemon.inputs)
		a.daemon.set(func() {
			a.daemon.mute = false
			a.daemon.written = 1
			a.daemon.post(a.daemon.conn, &protocol.Output{InputAcked: 1})
		})
		a.daemon.await(3 * maxUnacked)
		require.Equal(t, maxUnacked+1, a.daemon.inputs, "the rest goes in one")
	})
}

func TestReadOnlySendsNothing(t *testing.T) {
	attached(t, func(a *attachment) { a.opts.Attach.ReadOnly = true }, func(a *attachment) {
		a.types("rm -rf\r\x1b[<0;1;1M")
		a.term.resize(40, 10)
		synctest.Wait()
		require.Zero(t, a.daemon.inputs)
		require.Empty(t, a.daemon.got)
		a.types(lead + "d")
		r, err := a.ends(time.Second)
		require.NoError(t, err)
		require.Equal(t, protocol.EndDetached, r.Reason)
	})
}

// cutting is a plan of when a conversation dies while input is typed.
type cutting struct {
	after int           // bytes that the daemon has
	wait  time.Duration // and time
	taken bool          // the rest that was sent still arrives
	mute  bool          // nothing is acknowledged until then
	deaf  bool          // nothing is read until then
}

// TestInputArrivesOnceOverCutConnections cuts connections at any points of a paste and of typing.
func TestInputArrivesOnceOverCutConnections(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, 1<<20)).Draw(rt, "size")
		piece := rapid.IntRange(max(1, size/200), size+1).Draw(rt, "piece")
		cuts := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) cutting {
			return cutting{
				after: rapid.IntRange(0, size).Draw(rt, "after"),
				wait:  time.Duration(rapid.IntRange(0, 1000).Draw(rt, "wait")) * time.Millisecond,
				taken: rapid.Bool().Draw(rt, "taken"),
				mute:  rapid.Bool().Draw(rt, "mute"),
				deaf:  rapid.Bool().Draw(rt, "deaf"),
			}
		}), 0, 10).Draw(rt, "cuts")
		failures := rapid.SliceOfN(rapid.IntRange(0, 3), len(cuts), len(cuts)).Draw(rt, "failed dials")
		verdict := ""
		attached(t, nil, func(a *attachment) {
			verdict = runCuts(a, size, piece, cuts, failures)
		})
		if verdict != "" {
			rt.Fatal(verdict)
		}
	})
}

func runCuts(a *attachment, size, piece int, cuts []cutting, failures []int) string {
	want := make([]byte, size)
	for i := range want {
		if want[i] = byte(i*7 + i>>8); want[i] == DefaultLeader || want[i] == esc {
			want[i] = '-'
		}
	}
	d := a.daemon
	fail := 0
	d.set(func() {
		d.dialErr = func(int) error {
			if fail > 0 {
				fail--
				return errCut
			}
			return nil
		}
	})
	go func() {
		for rest := want; len(rest) > 0; {
			n := min(piece, len(rest))
			a.term.enter(string(rest[:n]))
			rest = rest[n:]
			time.Sleep(time.Millisecond)
		}
	}()
	for i, c := range cuts {
		d.set(func() { d.mute, d.deaf = c.mute, c.deaf })
		deadline := time.Now().Add(c.wait)
		for len(d.typed()) < c.after && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
		d.set(func() { fail = failures[i] })
		d.cut(c.taken)
	}
	d.set(func() { d.mute, d.deaf = false, false })
	deadline := time.Now().Add(time.Minute)
	for len(d.typed()) < size && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(10 * time.Second) // connected again
	d.set(func() {
		d.written = d.received
		d.post(d.conn, &protocol.Output{InputAcked: d.written})
	})
	synctest.Wait()
	problem := ""
	d.set(func() { problem, d.problem = d.problem, "" })
	if problem != "" {
		return problem
	}
	if got := d.typed(); got != string(want) {
		i := 0
		for i < len(got) && i < len(want) && got[i] == want[i] {
			i++
		}
		return fmt.Sprintf("%d bytes arrived of %d, equal up to %d", len(got), size, i)
	}
	o := a.client.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.in.kept > 0 {
		return fmt.Sprintf("%d bytes are still kept", o.in.kept)
	}
	return ""
}

func TestInputLogKeepsOrderAtItsEdges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var l inputLog
		var all, got []byte
		var ends []int // of the messages
		dst := make([]byte, protocol.MaxInputBytes)
		next := byte(0)
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				if l.room() == 0 {
					return
				}
				p := make([]byte, rapid.IntRange(0, l.room()).Draw(rt, "n"))
				for i := range p {
					p[i] = next
					next++
				}
				l.append(p)
				all = append(all, p...)
			},
			"take": func(rt *rapid.T) {
				seq, n := l.take(dst)
				if n == 0 {
					return
				}
				i := int(seq) - 1
				from := 0
				if i > 0 {
					from = ends[i-1]
				}
				switch {
				case i == len(ends):
					ends = append(ends, from+n)
					got = append(got, dst[:n]...)
				case i > len(ends) || ends[i] != from+n || !bytes.Equal(all[from:from+n], dst[:n]):
					rt.Fatalf("message %d is another one now", seq)
				}
			},
			"ack": func(rt *rapid.T) {
				n := rapid.Uint64Range(0, uint64(len(ends))).Draw(rt, "n")
				if !l.ack(n) {
					rt.Fatalf("ack of %d refused", n)
				}
				if l.ack(uint64(len(ends)) + 1) {
					rt.Fatal("ack of a message that is none")
				}
			},
			"rewind": func(*rapid.T) { l.rewind() },
			"": func(rt *rapid.T) {
				if !bytes.HasPrefix(all, got) {
					rt.Fatal("out of order")
				}
				if l.numbered > protocol.InputWindowBytes || l.kept > maxLogBytes || l.count > maxUnacked {
					rt.Fatalf("over the bounds: %d, %d, %d", l.numbered, l.kept, l.count)
				}
			},
		})
	})
}

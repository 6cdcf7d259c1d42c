package client

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/protocol"
)

// questions is how often the daemon was asked whether it is there.
func (d *fakeDaemon) questions() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, body := range d.asked {
		if body == nil {
			n++
		}
	}
	return n
}

func TestIdleClientSaysNothing(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.types("x")
		time.Sleep(24 * time.Hour)
		require.Zero(t, a.daemon.questions())
		require.Equal(t, "x", a.daemon.typed())
		require.NotContains(t, a.term.text(), "contact")
	})
}

func TestSilentDaemonIsSaid(t *testing.T) {
	attached(t, func(a *attachment) {
		a.daemon.mute, a.daemon.unanswering = true, true
		a.term.resize(120, 5)
		a.daemon.obedient = true
	}, func(a *attachment) {
		time.Sleep(time.Hour)
		a.types("x")
		time.Sleep(askAfter - time.Nanosecond)
		synctest.Wait()
		require.Zero(t, a.daemon.questions())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, 1, a.daemon.questions())
		require.NotContains(t, a.term.text(), "contact")
		time.Sleep(noContactAfter - askAfter - time.Nanosecond)
		synctest.Wait()
		require.NotContains(t, a.term.text(), "contact", "another way may be there by then")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Contains(t, a.term.text(), "no contact for 3 s: 1 key waits and arrives then")
		a.types("yä\x1b[A")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Contains(t, a.term.text(), "no contact for 4 s: 4 keys wait and arrive then (Ctrl-\\ d detaches)")
		require.Equal(t, 1, a.daemon.questions(), "one is enough: what carries it repeats it")

		// The daemon is there, it is the program that does not read.
		a.daemon.says(&protocol.Result{ID: 1})
		synctest.Wait()
		require.NotContains(t, a.term.text(), "contact")
		time.Sleep(askAgain - 4*time.Second)
		synctest.Wait()
		require.NotContains(t, a.term.text(), "contact")

		a.types(lead + "d")
		r, err := a.ends(leaveGrace + byeGrace)
		require.NoError(t, err)
		require.Equal(t, protocol.EndDetached, r.Reason)
	})
}

func TestProgramThatDoesNotReadIsNoLostContact(t *testing.T) {
	attached(t, func(a *attachment) { a.daemon.mute = true }, func(a *attachment) {
		a.types("x")
		for i := range 60 {
			time.Sleep(time.Second)
			synctest.Wait()
			require.NotContains(t, a.term.text(), "contact", i)
		}
		require.InDelta(t, 12, a.daemon.questions(), 1)
		a.daemon.set(func() { a.daemon.written = 1 })
		a.daemon.says(&protocol.Output{InputAcked: 1})
		synctest.Wait()
		n := a.daemon.questions()
		time.Sleep(time.Hour)
		require.LessOrEqual(t, a.daemon.questions(), n+1)
	})
}

func TestReconnectingIsCounted(t *testing.T) {
	attached(t, func(a *attachment) {
		a.term.resize(120, 5)
		a.daemon.obedient = true
		a.daemon.dialErr = func(n int) error {
			if n > 1 {
				return errCut
			}
			return nil
		}
	}, func(a *attachment) {
		a.daemon.cut(true)
		time.Sleep(lostNoticeAfter - time.Nanosecond)
		synctest.Wait()
		require.NotContains(t, a.term.text(), "connection lost")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Contains(t, a.term.text(), "connection lost, reconnecting: keys are held and sent once (Ctrl-\\ d detaches)")
		a.types("abc")
		time.Sleep(4*time.Second - lostNoticeAfter)
		synctest.Wait()
		require.Contains(t, a.term.text(), "reconnecting for 4 s: 3 keys wait and arrive then")
		a.daemon.set(func() { a.daemon.dialErr = nil })
		time.Sleep(lastBackoff)
		synctest.Wait()
		require.NotContains(t, a.term.text(), "connection")
		require.Equal(t, "abc", a.daemon.typed())
	})
}

func TestKeysAreCounted(t *testing.T) {
	for keys, want := range map[string]int{
		"": 0, "abc": 3, "ä漢": 2, "\x1b[A\x1bOB": 2, "\x1b": 1, "\x80\x80": 2, "\x1b[200~abc\x1b[20": 4,
		strings.Repeat("x", countedKeys+1): countedKeys,
	} {
		var l inputLog
		l.append([]byte(keys))
		require.Equal(t, want, l.keysKept(), "%q", keys)
	}
}

func TestPositionsOfInput(t *testing.T) {
	var l inputLog
	dst := make([]byte, protocol.MaxInputBytes)
	require.Zero(t, l.position(0))
	end := uint64(0)
	for n := uint64(1); n <= 3*rememberedEnds; n++ {
		size := int(n%3) + 1
		l.append(make([]byte, size))
		end += uint64(size)
		seq, _ := l.take(dst)
		require.Equal(t, n, seq)
		require.Equal(t, end, l.position(n))
		require.True(t, l.ack(n))
		require.Equal(t, end, l.position(n))
		require.Equal(t, end, l.dropped)
	}
	last := uint64(3 * rememberedEnds)
	require.NotZero(t, l.position(last-rememberedEnds+1))
	require.Zero(t, l.position(last-rememberedEnds), "too long ago")
}

// output has the daemon send a state each interval, n of them.
func (a *attachment) output(n int, interval time.Duration) {
	for i := range n {
		a.daemon.set(func() {
			a.daemon.term.Write([]byte(strconv.Itoa(i % 10)))
			a.daemon.draw(a.daemon.conn)
		})
		time.Sleep(interval)
	}
}

// When a flow stops, the daemon is asked once; what comes now and then is no flow.
func TestAFlowThatStopsIsAskedAbout(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.output(100, flowGap+time.Millisecond)
		time.Sleep(time.Hour)
		require.Zero(t, a.daemon.questions())
		a.output(flowAfter+5, flowGap/4)
		time.Sleep(askAfter - flowGap)
		require.Zero(t, a.daemon.questions())
		time.Sleep(time.Hour)
		require.Equal(t, 1, a.daemon.questions())
		require.Equal(t, 1, a.daemon.dialed(), "it answers")
	})
}

// A daemon behind a link that says nothing any more is dialled again, soon and then less often.
func TestASilentLinkIsGivenUp(t *testing.T) {
	c := contact{}
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	c.begin(start, 50*time.Millisecond)
	for i := range flowAfter + 1 {
		c.hear(at(time.Duration(i) * flowGap / 2))
	}
	last := flowAfter * flowGap / 2
	require.False(t, c.judge(at(last+askAfter-1)).ask)
	require.True(t, c.judge(at(last+askAfter)).ask)
	require.False(t, c.judge(at(last+silentAfter-1)).giveUp)
	require.True(t, c.judge(at(last+silentAfter)).giveUp)
	require.False(t, c.judge(at(last+silentAfter+1)).giveUp, "once")
	require.True(t, c.judge(at(last+2*silentAfter)).giveUp, "or, should that have had no effect, later")
	c.end()
	require.Equal(t, 7*time.Second, c.judge(at(last+7*time.Second)).silent, "there still is no contact")
	c.begin(at(last+8*time.Second), 50*time.Millisecond)
	require.Zero(t, c.judge(at(last+8*time.Second)).silent)

	tended := contact{}
	tended.begin(start, 50*time.Millisecond)
	tended.sent(1, start)
	tended.judge(at(askAfter))
	tended.tend(true)
	require.False(t, tended.judge(at(silentAfter)).giveUp, "the broker makes another link, and says when to move there")
	require.NotZero(t, tended.judge(at(silentAfter)).silent)
	tended.tend(false)
	require.True(t, tended.judge(at(silentAfter+time.Second)).giveUp, "the link is good, and the daemon silent all the same")

	near := contact{}
	near.begin(start, farRTT-1)
	near.sent(1, start)
	near.judge(at(askAfter))
	require.False(t, near.judge(at(time.Hour)).giveUp, "this machine's daemon is slow, and no link is the reason")

	quick := contact{far: true}
	quick.begin(start, farRTT-1)
	quick.sent(1, start)
	quick.judge(at(askAfter))
	require.True(t, quick.judge(at(time.Hour)).giveUp)
}

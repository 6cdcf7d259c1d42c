package client

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// reports has the broker say how the link is.
func (d *fakeDaemon) reports(r protocol.LinkReport) {
	d.mu.Lock()
	conn := d.conn
	d.mu.Unlock()
	conn.reports <- r
	synctest.Wait()
}

// What the broker says of the link is shown while nobody types, and taken away.
func TestTheLinkIsShown(t *testing.T) {
	attached(t, func(a *attachment) { a.term.resize(120, 5); a.daemon.obedient = true }, func(a *attachment) {
		time.Sleep(time.Minute)
		a.daemon.reports(protocol.LinkReport{State: domain.LinkSlow, RTT: slowRTT - 1})
		require.Contains(t, a.term.text(), "slow link")
		require.NotContains(t, a.term.text(), "ms", "an answer is late, which is not said to be usual")
		a.daemon.reports(protocol.LinkReport{State: domain.LinkSlow, RTT: 1234567 * time.Microsecond})
		require.Contains(t, a.term.text(), "slow link: 1234 ms there and back")
		a.daemon.reports(protocol.LinkReport{State: domain.LinkSilent, Silent: 2500 * time.Millisecond})
		require.Contains(t, a.term.text(), "no contact for 2 s: keys are held and sent once (Ctrl-\\ d detaches)")
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		require.Contains(t, a.term.text(), "no contact for 3 s")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Contains(t, a.term.text(), "no contact for 13 s")
		a.daemon.reports(protocol.LinkReport{State: domain.LinkConnected})
		require.NotContains(t, a.term.text(), "contact")
		a.types(lead + "d")
		_, err := a.ends(leaveGrace + byeGrace)
		require.NoError(t, err)
	})
}

// The attachment goes to another link when it is told to: one that is ready before the old one is left, so nothing is to be
// seen of it, and nothing is lost that is typed.
func TestMovingToAnotherLink(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		time.Sleep(time.Minute)
		first := a.daemon.conn
		a.daemon.set(func() {
			a.daemon.mute = true // what is typed is on its way
			a.daemon.dialErr = func(n int) error {
				if n == 2 {
					return fault.New(fault.Unavailable, "not yet")
				}
				return nil
			}
		})
		a.types("before")
		a.daemon.reports(protocol.LinkReport{State: domain.LinkConnected, Move: true})
		require.False(t, first.closed(), "the other link is not ready")
		a.types("between")
		a.daemon.set(func() { a.daemon.mute = false })
		time.Sleep(moveAgain)
		synctest.Wait()
		require.True(t, first.closed())
		require.Equal(t, 3, a.daemon.dials)
		require.Len(t, a.daemon.attaches, 2)
		require.NotNil(t, a.daemon.attaches[1].Resume)
		require.NotContains(t, a.term.text(), "connect", "nothing is to be said")
		a.types("after")
		synctest.Wait()
		require.Equal(t, "beforebetweenafter", a.daemon.typed())
		a.types(lead + "d")
		_, err := a.ends(leaveGrace + byeGrace)
		require.NoError(t, err)
	})
}

// A conversation over a link that the broker knows to be bad is not given up: it is told to move.
func TestABadLinkIsTheBrokersToLeave(t *testing.T) {
	attached(t, func(a *attachment) { a.opts.Far = true }, func(a *attachment) {
		first := a.daemon.conn
		a.daemon.set(func() { a.daemon.mute, a.daemon.unanswering = true, true })
		a.types("x")
		a.daemon.reports(protocol.LinkReport{State: domain.LinkSlow})
		time.Sleep(time.Minute)
		require.False(t, first.closed())
		a.daemon.reports(protocol.LinkReport{State: domain.LinkConnected})
		time.Sleep(2 * time.Second)
		require.True(t, first.closed(), "the link is good and the daemon silent")
		a.daemon.set(func() { a.daemon.mute, a.daemon.unanswering = false, false })
		a.types(lead + "d")
		_, err := a.ends(leaveGrace + byeGrace)
		require.NoError(t, err)
	})
}

// An attachment that ends while it moves leaves no conversation behind.
func TestEndingWhileMoving(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		first := a.daemon.conn
		a.daemon.set(func() {
			a.daemon.onDial = func() { a.daemon.post(first, &protocol.Ended{Reason: protocol.EndKilled}) }
		})
		a.daemon.reports(protocol.LinkReport{State: domain.LinkConnected, Move: true})
		r, err := a.ends(leaveGrace + byeGrace)
		require.NoError(t, err)
		require.Equal(t, protocol.EndKilled, r.Reason)
		require.True(t, a.daemon.conn.closed())
	})
}

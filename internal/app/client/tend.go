package client

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// resumedGrace is how long the terminal's word that the job runs again may take after Suspend returned.
const resumedGrace = 100 * time.Millisecond

// tend draws what is not the daemon's doing, until ctx ends: notices, other sizes, stops. It may wait for a terminal
// that takes nothing; the end does not wait for it. Its errors are terminalErrors.
func (c *client) tend(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var painted uint64
	for {
		var err error
		select {
		case <-c.notices.wake:
		case <-timer.C:
		case <-c.guesser.wake:
			err = c.screen.guess()
		case <-c.redraw:
			err = c.screen.repaint()
		case <-c.scroll.wake:
		case text := <-c.scroll.out:
			err = c.copied(ctx, text)
		case <-c.resized:
			err = c.resize()
		case <-c.suspend:
			err = c.stop(ctx)
		case <-c.resumed:
			err = c.screen.resumed(c.size())
		case <-ctx.Done():
			return nil
		}
		now := time.Now()
		if next := earlier(c.look(now), c.scroll.tick(now)); !next.IsZero() {
			timer.Reset(time.Until(next))
		}
		if v := c.notices.version.Load(); err == nil && v != painted {
			painted = v
			err = c.screen.repaint()
		}
		if err != nil {
			return err
		}
	}
}

// look does what is due and returns when something will be, the zero time when nothing will.
func (c *client) look(now time.Time) (next time.Time) {
	v := c.contact.judge(now)
	if v.stalled {
		c.guesser.stall()
	}
	if v.ask {
		// Any daemon answers a request that asks for nothing (docs/protocol.md, Requests).
		c.out.ask(nil, func(*protocol.Result) { c.contact.answer() })
	}
	if conn := c.out.current(); v.giveUp && conn != nil {
		c.spawn(func() { conn.Close() }) // ends its Receive, which tells the link
	}
	keys := 0
	if v.silent > 0 || c.notices.reconnecting() || c.notices.silentLink() {
		keys = c.out.waiting()
	}
	c.notices.waits(v.silent, keys)
	return earlier(v.next, c.notices.tick(now))
}

// earlier is the first of two times, of which the zero time is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// resize takes the terminal's new size. The screen has it before the daemon: what the terminal did with its lines is worked
// out from what it showed, not from a state of the new size.
func (c *client) resize() error {
	size := c.size()
	err := c.screen.resized(size)
	if !c.readOnly {
		c.out.resize(size)
	}
	return err
}

// attends tells the daemon whether anybody looks at this client.
func (c *client) attends(yes bool) {
	if !c.readOnly {
		c.out.focused(yes)
	}
}

// stop suspends this program's job and comes back when it goes on.
func (c *client) stop(ctx context.Context) error {
	refused, err := c.screen.suspend(func() (domain.Size, error) {
		c.attends(false)
		defer c.attends(true)
		err := c.o.Terminal.Suspend()
		if err == nil {
			grace := time.NewTimer(resumedGrace)
			defer grace.Stop()
			select {
			case <-c.resumed:
			case <-grace.C:
			case <-ctx.Done():
			}
		}
		return c.size(), err
	})
	if refused != nil {
		c.notices.say("cannot suspend: %v", refused)
		return err
	}
	return err
}

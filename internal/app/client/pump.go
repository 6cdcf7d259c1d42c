package client

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain/keys"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// pump reads the terminal and sends what it reads, from this one goroutine, until ctx ends or the terminal does. It
// waits for nothing else but room in the input log, so the leader key works whatever the link and the screen do.
func (c *client) pump(ctx context.Context) outcome {
	buf := make([]byte, protocol.MaxInputBytes)
	kept := 0 // bytes at the begin of buf that wait for the rest of their sequence
	for {
		room := c.out.room(ctx)
		if room == 0 {
			return outcome{err: context.Cause(ctx), local: true}
		}
		space := buf[kept:min(len(buf), kept+room)]
		n, err := c.o.Terminal.Read(space)
		if err != nil {
			return outcome{err: &terminalError{err}, local: true}
		}
		c.typing.full = n == len(space)
		rest, detached := c.keysIn(buf[:kept+n])
		if detached {
			return outcome{reason: protocol.EndDetached, local: true}
		}
		kept = copy(buf, rest)
	}
}

// keysIn sends what is typed and does what is asked of the client; it returns the begin of a sequence that is not whole.
func (c *client) keysIn(p []byte) (rest []byte, detached bool) {
	shown := c.screen.shown.Load()
	c.typing.flags = shown.modes.KittyFlags
	hold := shown.modes.KittyFlags&keys.KittyDisambiguate != 0
	captures := c.scroll.captures.Load()
	c.typing.mouse = captures || shown.modes.Mouse != vt.MouseNone
	for len(p) > 0 {
		pass, drop, act := c.typing.step(p, hold)
		if pass == 0 && drop == 0 && act == noAction {
			return p, false
		}
		if pass > 0 {
			c.typed(p[:pass])
		}
		raw := p[pass : pass+drop]
		p = p[pass+drop:]
		switch act {
		case noAction:
		case actDetach:
			return nil, true
		case actMouse:
			if captures {
				c.scrolls(func() { c.scroll.report(c.typing.event, time.Now()) })
			} else {
				c.moused(shown, len(p))
			}
		case actFocus:
			c.attends(c.typing.event.Kind == keys.FocusIn)
		case actKey:
			c.typed(c.pressed(shown, raw, len(p)))
		case actPaste:
			c.pasted(shown, raw)
		default:
			c.do(act)
		}
	}
	return nil, false
}

// pressed returns the key of an event in the form that the program asked for; as it came when there is no room for that
// beside what was read behind it.
func (c *client) pressed(s *shown, raw []byte, after int) []byte {
	out, _ := keys.AppendKey(c.keyBuf[:0], c.typing.event, s.modes)
	c.keyBuf = out
	if len(out) == 0 || len(out)+after > c.out.free() {
		return raw
	}
	return out
}

// typed sends input, if the attachment may.
func (c *client) typed(p []byte) {
	if p = c.used(p); len(p) > 0 {
		c.send(p)
	}
}

// used lets the client use input for itself and returns what the program is to get.
func (c *client) used(p []byte) []byte {
	if c.help {
		c.help = false
		c.notices.setKeys(keysNone)
	}
	if len(p) > 0 && c.o.Asker.active() {
		p = c.o.Asker.typed(p)
	}
	if len(p) > 0 && c.scroll.active() {
		p = c.scroll.typed(p)
	}
	if len(p) == 0 || !c.readOnly {
		return p
	}
	if c.o.Watch {
		c.watched(p)
		return nil
	}
	if p[0] != esc { // reports of the terminal are no keys
		c.notices.say("attached read-only: keys are not sent")
	}
	return nil
}

// send sends input, and lets its effect be guessed.
func (c *client) send(p []byte) {
	c.input += uint64(len(p))
	if !c.guesser.active.Load() {
		c.out.typed(p)
		return
	}
	c.guesser.typed(p, c.input)
	c.out.typed(p)
	signal(c.guesser.wake)
}

// screenGrace is how long the pump waits for the screen when scroll mode may begin, so that what is shown can be kept;
// a terminal that takes nothing has it for longer.
const screenGrace = 20 * time.Millisecond

// scrolls runs f, which may begin scroll mode.
func (c *client) scrolls(f func()) {
	if c.scroll.active() {
		f()
		return
	}
	timer := time.NewTimer(screenGrace)
	defer timer.Stop()
	select {
	case c.screen.turn <- struct{}{}:
		c.scroll.lend(&c.screen.view, f)
		c.screen.give()
	case <-timer.C:
		f()
	}
}

// do is what the leader asks for, but for the end.
func (c *client) do(act action) {
	switch act {
	case actPending:
		c.notices.setKeys(keysAwaited)
		return
	case actHelp:
		c.help = true
		c.notices.setKeys(keysHelp)
		return
	case actScroll:
		c.scrolls(c.scroll.start)
	case actSuspend:
		signal(c.suspend)
	case actUnknown:
		c.notices.say("no such key: %s ? shows the keys", c.notices.leader)
	case noAction, actDetach, actSent, actCancel, actMouse, actFocus, actKey, actPaste:
	}
	c.notices.setKeys(keysNone)
}

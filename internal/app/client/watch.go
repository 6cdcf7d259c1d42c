package client

import "github.com/vev-term/vev/internal/protocol"

// watchKeys is what a live view (Options.Watch) says to a key without a meaning.
const watchKeys = "live view: q leaves, PageUp scrolls, / ? search"

// watched takes what is typed into a live view: q leaves it, and a key that moves or searches in scroll mode begins that.
func (c *client) watched(p []byte) {
	p = append(c.strokes.rest, p...)
	c.strokes.rest = nil
	for len(p) > 0 {
		key, _, n := c.strokes.next(p)
		switch {
		case n == 0:
			c.strokes.rest = append([]byte(nil), p...)
			return
		case key == 'q' || key == ctrl('c'):
			c.end(outcome{reason: protocol.EndDetached, local: true})
			return
		case scrollsBack(key):
			c.scrolls(c.scroll.start)
			if c.scroll.active() {
				p = c.scroll.typed(p)
				continue
			}
		case key != 0:
			c.notices.say("%s", watchKeys)
		}
		p = p[n:]
	}
}

// scrollsBack reports whether a key of scroll mode leads away from what a live view shows.
func scrollsBack(key stroke) bool {
	switch key {
	case 'k', keyUp, keyPageUp, ctrl('b'), ctrl('u'), ctrl('y'), keyHome, 'g', '/', '?':
		return true
	}
	return false
}

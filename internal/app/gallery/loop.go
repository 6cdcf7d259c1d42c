package gallery

import (
	"context"
	"time"
)

// paintInterval is between two paints, at the least: what comes meanwhile goes into the next.
const paintInterval = time.Second / 60

// loop draws until ctx ends, or there is a reason to end.
func (g *gallery) loop(ctx context.Context) error {
	if err := g.screen.enter(); err != nil {
		return err
	}
	g.spawn(func() error {
		g.end(outcome{err: g.pump(ctx)}) // without an error the user leaves
		return nil
	})
	defer g.wall.clear()
	g.wall.resize(g.screen.size())
	timer := time.NewTimer(0)
	defer timer.Stop()
	painted := time.Time{}
	for due := false; ; {
		if g.wall.changed && !due {
			due = true
			timer.Reset(max(0, time.Until(painted.Add(paintInterval))))
		}
		var err error
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			due = false
			err = g.screen.paint(g.wall.draw())
			painted = time.Now()
		case p := <-g.pictures:
			g.wall.show(p)
		case list := <-g.lists:
			g.wall.set(list)
		case w := <-g.wishes:
			if w == wishChoose {
				if chosen, ok := g.wall.choice(); ok {
					g.end(outcome{chosen: chosen, ok: true})
				}
				continue
			}
			g.wall.move(w)
		case <-g.resized:
			g.wall.resize(g.screen.size())
		case <-g.suspend:
			err = g.screen.suspend()
			g.wall.resize(g.screen.size())
		case <-g.resumed:
			err = g.screen.enter()
			g.wall.resize(g.screen.size())
		}
		if err != nil {
			return err
		}
		g.look(ctx)
	}
}

// look starts a reader for each tile that has become visible.
func (g *gallery) look(ctx context.Context) {
	for _, t := range g.wall.unread() {
		ctx, stop := context.WithCancel(ctx)
		t.stop = stop
		// A tile's entry is the loop's: another list brings it news.
		host, id := t.entry.Address.Host, t.entry.ID
		g.spawn(func() error { g.read(ctx, t, host, id); return nil })
	}
}

package client

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
)

// moveAgain is the time between attempts to take the conversation to another link.
const moveAgain = 2 * time.Second

// heeding is the goroutine that heeds what is said of the link under a conversation.
type heeding struct {
	stop context.CancelFunc
	done chan struct{}
	next ports.SessionClientConn // over another link; nil: there is none. The goroutine's until done is closed
}

// heed begins to pass on what is said of the link under conn, and to take the conversation to another link when that is said
// to be better. Who receives on conn calls end once that is over.
func (l *link) heed(ctx context.Context, conn ports.SessionClientConn) *heeding {
	ctx, stop := context.WithCancel(ctx)
	h := &heeding{stop: stop, done: make(chan struct{})}
	teller, ok := conn.(ports.LinkTeller)
	if !ok {
		close(h.done)
		return h
	}
	l.spawn(func() {
		defer close(h.done)
		h.run(ctx, l, conn, teller)
	})
	return h
}

// end ends it and returns the conversation that was begun over another link, if there is one.
func (h *heeding) end() ports.SessionClientConn {
	h.stop()
	<-h.done
	return h.next
}

func (h *heeding) run(ctx context.Context, l *link, conn ports.SessionClientConn, teller ports.LinkTeller) {
	again := time.NewTimer(0)
	defer again.Stop()
	move := false
	for h.next == nil {
		select {
		case r := <-teller.Reports():
			l.notices.reported(r, time.Now())
			l.contact.tend(r.State == domain.LinkSlow || r.State == domain.LinkSilent)
			if r.Move && !move {
				move = true
				again.Reset(0)
			}
			move = r.Move
		case <-again.C:
			if !move {
				continue
			}
			next, err := l.o.Dialer.Dial(ctx)
			if err != nil {
				again.Reset(moveAgain)
				continue
			}
			h.next = next
			conn.Close() // ends its Receive: the attachment is resumed on the next one
		case <-ctx.Done():
			return
		}
	}
}

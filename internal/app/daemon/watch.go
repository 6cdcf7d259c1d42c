package daemon

import (
	"context"
	"sync"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// watchPart tells one part of what a client watches, until ctx or the conversation ends.
type watchPart func(ctx context.Context, conn ports.SessionServerConn) error

// serveWatch is a conversation that began with Watch. Each part has a goroutine that sends what is new and waits while the
// client takes nothing: what happens meanwhile waits as a state, not as a queue.
func (d *Daemon) serveWatch(ctx context.Context, conn ports.SessionServerConn, m *protocol.Watch) error {
	answer, parts := d.watched(m)
	if answer == nil {
		return conn.Send(&protocol.Refused{Failure: *protocol.FailureOf(
			fault.New(fault.Unsupported, "this daemon knows nothing of what is to be watched").WithHint("upgrade the host's vev"))})
	}
	if err := conn.Send(answer); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, part := range parts {
		wg.Go(func() {
			if err := part(ctx, conn); err != nil {
				conn.Close() // the client begins another conversation, and misses nothing by that
			}
		})
	}
	_, err := conn.Receive() // nothing may follow: the end, or a violation
	cancel()
	conn.Close() // unblocks a part that waits for the client
	wg.Wait()
	return err
}

// watched answers Watch and says who tells its parts; nil: nothing that is known here was asked for.
func (d *Daemon) watched(m *protocol.Watch) (*protocol.Watching, []watchPart) {
	if m.Catalogue == nil && m.Events == nil && m.Previews == nil {
		return nil, nil
	}
	answer := &protocol.Watching{}
	var parts []watchPart
	if m.Catalogue != nil {
		answer.Catalogue = &protocol.WatchAnswer{}
		parts = append(parts, d.tellRows)
	}
	if m.Events != nil {
		w := d.watchEvents(m.Events)
		err := w.open()
		answer.Events = &protocol.WatchAnswer{Failure: protocol.FailureOf(err)}
		if err == nil {
			parts = append(parts, w.tell)
		}
	}
	if m.Previews != nil {
		part, err := d.preview(m.Previews)
		answer.Previews = &protocol.WatchAnswer{Failure: protocol.FailureOf(err)}
		if err == nil {
			parts = append(parts, part)
		}
	}
	return answer, parts
}

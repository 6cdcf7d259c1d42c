package daemon

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/streambus"
)

// eventWatch reads the events of a session, or of all, in their order and each once; where some may be missing it
// says between which.
type eventWatch struct {
	d       *Daemon
	m       *protocol.WatchEvents
	session domain.SessionID // zero: all
	sub     *streambus.Subscription
	last    uint64 // sequence on the bus up to which everything was given, or is known to be missing
	dropped uint64 // of sub, when that was looked at last
	batch   [protocol.MaxWatchedEvents]streambus.Message
}

func (d *Daemon) watchEvents(m *protocol.WatchEvents) *eventWatch { return &eventWatch{d: d, m: m} }

// number makes an event's number of its sequence on the bus: larger than those of the daemons before this one.
func (d *Daemon) number(sequence uint64) uint64 { return d.eventBase + sequence }

// lastEvent is the number of the newest event.
func (d *Daemon) lastEvent() uint64 { return d.number(d.bus.Stats().Sequence) }

// open begins where the client wants to: with what is new, with all that is kept, or behind an event.
func (w *eventWatch) open() error {
	if w.m.Session != "" {
		var err error
		if w.session, err = w.find(); err != nil {
			return err
		}
	}
	switch {
	case w.m.Live:
		w.last = w.d.bus.Stats().Sequence
	case w.m.Since > w.d.eventBase:
		w.last = w.m.Since - w.d.eventBase
	}
	return nil
}

// find returns the session's id: also of one that is gone, to a client that goes on by its id, while there is
// something of it that the client does not know.
func (w *eventWatch) find() (domain.SessionID, error) {
	s, err := w.d.find(w.m.Session)
	if err == nil {
		return s.id, nil
	}
	id, ok := domain.ParseSessionID(w.m.Session)
	if ok && w.m.Since > 0 && w.d.lastOf(id) > w.m.Since {
		return id, nil
	}
	return domain.SessionID{}, err
}

// lastOf is the number of the newest event of a session, which may be gone; 0 if none is kept.
func (d *Daemon) lastOf(id domain.SessionID) uint64 {
	sub, err := d.bus.Subscribe(context.Background(), streambus.SubscribeOptions{
		Topic: topicSessions + id.String(), Overflow: streambus.DropNewest, Replay: 1,
	})
	if err != nil {
		return 0
	}
	defer sub.Close()
	if sub.Stats().Pending == 0 {
		return 0
	}
	m, err := sub.Next(context.Background())
	if err != nil {
		return 0
	}
	return d.number(m.Sequence)
}

func (w *eventWatch) close() {
	if w.sub != nil {
		w.sub.Close()
	}
}

func (w *eventWatch) options() streambus.SubscribeOptions {
	o := streambus.SubscribeOptions{Overflow: streambus.DropOldest, Buffer: eventBuffer}
	if w.session.IsZero() {
		o.Prefix = topicSessions
	} else {
		o.Topic = topicSessions + w.session.String()
	}
	return o
}

// join subscribes behind last. Where events behind it are gone, it takes what is kept, and returns what may be missing.
func (w *eventWatch) join(ctx context.Context) (gap protocol.EventGap, err error) {
	o := w.options()
	o.Since = &w.last
	w.sub, err = w.d.bus.Subscribe(ctx, o)
	var gone *streambus.ReplayError
	if errors.As(err, &gone) {
		gap = protocol.EventGap{From: w.d.number(w.last) + 1, To: w.d.number(max(gone.Earliest, w.last+1))}
		if gone.Since > gone.Last { // of a daemon that ran before, with a clock that was ahead
			gap, w.last = protocol.EventGap{From: w.d.eventBase, To: w.d.eventBase}, 0
		}
		o.Since, o.Replay = nil, eventTopics*eventsOfSession // all there is
		w.sub, err = w.d.bus.Subscribe(ctx, o)
	}
	w.dropped = 0
	return gap, err
}

// next waits for the next events; the first call tells at once where the client is.
func (w *eventWatch) next(ctx context.Context) (*protocol.WatchedEvents, error) {
	for {
		out := &protocol.WatchedEvents{}
		first := w.sub == nil
		if first || w.sub.Stats().Dropped > w.dropped {
			w.close()
			gap, err := w.join(ctx)
			if err != nil {
				return nil, err
			}
			out.Gap = gap
			if first && w.m.Since > 0 && w.m.Since < w.d.eventBase {
				out.Gap = protocol.EventGap{From: w.m.Since + 1, To: w.d.eventBase}
			}
			if first && w.m.Since == 0 {
				out.Gap = protocol.EventGap{} // all that there is was asked for
			}
			if first || out.Gap != (protocol.EventGap{}) {
				out.Last = w.d.number(w.last)
				return out, nil
			}
		}
		n, err := w.sub.Receive(ctx, w.batch[:])
		if err != nil {
			return nil, err
		}
		if w.sub.Stats().Dropped > w.dropped {
			continue // some of what comes before the batch is missing: it is read again
		}
		w.take(out, w.batch[:n])
		if len(out.Events) > 0 {
			out.Last = w.d.number(w.last)
			return out, nil
		}
	}
}

// take reads what the client wants of a batch.
func (w *eventWatch) take(out *protocol.WatchedEvents, batch []streambus.Message) {
	for i := range batch {
		if batch[i].Sequence <= w.last {
			continue // replayed although it was given
		}
		w.last = batch[i].Sequence
		var e domain.Event
		if json.Unmarshal(batch[i].Payload, &e) != nil {
			continue // tell makes them: it cannot be
		}
		if w.m.Types != 0 && !w.m.Types.Has(e.Type) {
			continue
		}
		e.Seq = w.d.number(batch[i].Sequence)
		out.Events = append(out.Events, e)
	}
	clear(batch)
}

// tell is the part of a watch that tells events.
func (w *eventWatch) tell(ctx context.Context, conn ports.SessionServerConn) error {
	defer w.close()
	for {
		out, err := w.next(ctx)
		if err == nil {
			err = conn.Send(out)
		}
		if err != nil {
			return err
		}
	}
}

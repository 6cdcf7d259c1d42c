package client

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// Event happened in a session. Types are added, never renamed; EventTypes names them.
type Event struct {
	Seq     uint64    `json:"seq"`
	At      time.Time `json:"at"`
	Session string    `json:"session"` // its id
	Name    string    `json:"name"`
	Type    string    `json:"type"`
	Title   string    `json:"title,omitempty"`
	Text    string    `json:"text,omitempty"`
	Count   int       `json:"count,omitempty"`
	Client  uint64    `json:"client,omitempty"`
	Cols    int       `json:"cols,omitempty"`
	Rows    int       `json:"rows,omitempty"`
	Status  *int      `json:"status,omitempty"`
	TookMS  *int64    `json:"took_ms,omitempty"`
}

// EventTypes are the types of events.
func EventTypes() []string { return domain.EventNames() }

func eventOf(d *domain.Event) Event {
	e := Event{
		Seq: d.Seq, At: d.At, Session: d.Session.String(), Name: d.Name, Type: d.Type.String(), Title: d.Title, Text: d.Text,
		Count: d.Count, Client: d.Client, Cols: d.Size.Cols, Rows: d.Size.Rows,
	}
	if d.HasStatus {
		status := d.Status
		e.Status = &status
	}
	if d.Type == domain.EventCommandEnd {
		ms := d.Took.Milliseconds()
		e.TookMS = &ms
	}
	return e
}

func eventSet(names []string) (set domain.EventSet, err error) {
	for _, name := range names {
		t, ok := domain.ParseEventType(name)
		if !ok {
			return 0, usage("there is no event %q; there are %s", name, strings.Join(domain.EventNames(), ", "))
		}
		set = set.With(t)
	}
	return set, nil
}

// WatchOptions say what Watch tells.
type WatchOptions struct {
	Session string   // NAME or HOST:NAME; or
	Host    string   // of every session of a host, "" being this machine
	Types   []string // none: all
	Since   uint64   // what came after this event first; 0: all that is kept
	Live    bool     // only what happens from now on
}

// Watcher is told what happens. An error of it ends the watch.
type Watcher struct {
	Event func(Event) error
	Gap   func(from, to uint64) error // events in between are not kept any more; nil: not told
}

// Watch tells what happens, in its order and each event once, also across a lost broker or link: it goes on where it was.
// A machine that is not reached at first is an error; one that was is tried again until the context ends. It returns nil when
// the one session it watches has ended, also if it ended meanwhile, and otherwise why it ended; with the context's end, a
// fault of kind Canceled or Timeout.
func (c *Client) Watch(ctx context.Context, o WatchOptions, w Watcher) error {
	watch, err := c.newWatch(o, w)
	if err != nil {
		return err
	}
	for pause := talk.FirstPause; ; pause = min(2*pause, longestPause) {
		before := watch.ask.Since
		ended, err := watch.follow(ctx, c)
		if ctx.Err() != nil {
			return fault.Wrap(endKind(ctx), context.Cause(ctx), "the watch was ended")
		}
		if ended || err != nil && fault.KindOf(err) != fault.Unavailable {
			return talk.At(watch.at.Host, err)
		}
		if watch.ask.Since > before {
			pause = talk.FirstPause
		}
		talk.Sleep(ctx, pause)
	}
}

// longestPause is between two attempts to reach a machine again.
const longestPause = 2 * time.Second

func endKind(ctx context.Context) fault.Kind {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Timeout
	}
	return fault.Canceled
}

// watch is what is asked for next.
type watch struct {
	at     domain.Address
	ask    protocol.WatchEvents
	wanted domain.EventSet // none: all; of one session its end is asked for, too
	to     Watcher
	begun  bool // the daemon was reached
}

func (c *Client) newWatch(o WatchOptions, w Watcher) (*watch, error) {
	out := &watch{to: w, ask: protocol.WatchEvents{Since: o.Since, Live: o.Live}}
	var err error
	switch {
	case o.Session != "" && o.Host != "":
		return nil, usage("a watch is of a session or of a host, not both")
	case o.Live && o.Since != 0:
		return nil, usage("a watch is live or since an event, not both")
	case o.Session != "":
		if out.at, err = domain.ParseAddress(o.Session); err == nil && out.at.Name == "" {
			err = usage("%q names no session", o.Session)
		}
		out.ask.Session = out.at.Name
	default:
		out.at.Host, err = parseHost(o.Host)
	}
	if err == nil {
		out.wanted, err = eventSet(o.Types)
	}
	if out.wanted != 0 {
		out.wanted = out.wanted.With(domain.EventLost) // it may have been one of them
	}
	if out.ask.Types = out.wanted; out.wanted != 0 && out.ask.Session != "" {
		out.ask.Types = out.wanted.With(domain.EventExited)
	}
	return out, err
}

// follow tells what one conversation has; ended: nothing more comes.
func (w *watch) follow(ctx context.Context, c *Client) (ended bool, err error) {
	d, err := c.dialer(w.at.Host, protocol.ExistingOnly)
	if err != nil {
		return true, err
	}
	conn, err := d.Dial(ctx)
	if talk.IsNoDaemon(err) {
		return true, talk.NoSession(w.at)
	}
	if err != nil {
		return !w.begun, err
	}
	w.begun = true
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.Send(&protocol.Watch{Events: &w.ask}); err != nil {
		return false, fault.Wrap(fault.Unavailable, err, "the connection was lost")
	}
	for {
		m, err := conn.Receive()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case fault.KindOf(err) == fault.Violation && err != nil:
			return true, err
		case err != nil:
			return false, fault.Wrap(fault.Unavailable, err, "the connection was lost")
		}
		if ended, err := w.take(m); ended || err != nil {
			return true, err
		}
	}
}

func (w *watch) take(m protocol.SessionServerMessage) (ended bool, err error) {
	switch m := m.(type) {
	case *protocol.Refused:
		return true, m.Failure.Fault()
	case *protocol.Watching:
		if m.Events == nil {
			return true, fault.New(fault.Unsupported, "the daemon does not tell of events").WithHint("upgrade the host's vev")
		}
		if m.Events.Failure != nil {
			return true, m.Events.Failure.Fault()
		}
	case *protocol.WatchedEvents:
		return w.tell(m)
	}
	return false, nil
}

func (w *watch) tell(m *protocol.WatchedEvents) (ended bool, err error) {
	if m.Gap != (protocol.EventGap{}) && w.to.Gap != nil {
		if err := w.to.Gap(m.Gap.From, m.Gap.To); err != nil {
			return true, err
		}
	}
	for i := range m.Events {
		e := &m.Events[i]
		if e.Type == 0 {
			continue // of a newer daemon
		}
		if w.ask.Session != "" {
			w.ask.Session = e.Session.String() // it may be renamed
		}
		if w.wanted == 0 || w.wanted.Has(e.Type) {
			if err := w.to.Event(eventOf(e)); err != nil {
				return true, err
			}
		}
		w.ask.Live, w.ask.Since = false, e.Seq
		if w.ask.Session != "" && e.Type == domain.EventExited {
			return true, nil
		}
	}
	w.ask.Live, w.ask.Since = false, m.Last
	return false, nil
}

package broker

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// A host that could not be asked is asked again after firstRetry, then twice as long, up to lastRetry, while
	// somebody wants its list.
	firstRetry = time.Second
	lastRetry  = time.Minute
	// askAgain is when a host is asked again that has no daemon, or one that cannot be watched.
	askAgain = time.Minute
	// failureFresh is how long a failure is an answer to who comes and asks; the host is asked beside that.
	failureFresh = 30 * time.Second
	// contactFresh is how old the last contact may be for a list to count as current without a look at the host.
	contactFresh = time.Second
)

// keeper keeps one host's list current by a Watch conversation with its daemon, for as long as somebody wants it; on
// another machine the conversation lives on with its link, which that does not count as used. It has a goroutine.
type keeper struct {
	l      *lists
	host   string
	ticket catalogue.Ticket
	kick   chan struct{} // cap 1: ask now

	// Guarded by lists.mu.
	state      catalogue.State
	failure    *fault.Error // with Stale
	live       bool         // a conversation tells the list
	stream     *linked      // that it goes over; nil: this machine's, or none
	way        domain.HostLink
	hangUp     context.CancelCauseFunc // of the attempt or conversation there is, or nil
	confirming bool
	moving     bool      // from one link to another
	reached    bool      // there was a way to it while it is kept
	failed     time.Time // when it could not be asked last
	heard      time.Time // when the daemon said something last
}

func newKeeper(l *lists, ticket catalogue.Ticket) *keeper {
	return &keeper{l: l, host: ticket.Host(), ticket: ticket, kick: make(chan struct{}, 1)}
}

// errUnwanted ends a conversation that nobody wants any more, errUnconfirmed one whose host does not answer, errMoved
// one over a link that another took the place of.
var (
	errUnwanted    = errors.New("nobody wants it")
	errMoved       = error(&fault.Error{Kind: fault.Unavailable, Msg: "another link took the place of this one"})
	errUnconfirmed = &fault.Error{Kind: fault.Timeout, Msg: "no answer", Hint: "contact may come back: try again"}
)

// run asks the host again and again while somebody wants its list.
func (k *keeper) run() {
	retry := firstRetry
	for {
		began := time.Now()
		told, err := k.watch()
		wait := askAgain
		switch {
		case told && (err == errMoved || time.Since(began) > firstRetry):
			retry, wait = firstRetry, 0
		case err != nil:
			wait = retry/2 + rand.N(retry)
			retry = min(2*retry, lastRetry)
		}
		if k.over(err, wait == 0) || !k.pause(wait) {
			return
		}
	}
}

// over notes how a conversation ended; true: nobody wants another. What was told and ended is asked at once: it is known
// soon whether the list is stale, and where another link took the place of its own it goes on over that, wanted or not.
func (k *keeper) over(err error, atOnce bool) bool {
	way := k.l.b.hosts.link(k.address())
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	k.live, k.hangUp, k.stream, k.way = false, nil, nil, way
	k.moving = atOnce && (way.State == domain.LinkConnected || way.State == domain.LinkSlow)
	switch {
	case k.unwanted():
		return true
	case atOnce && fault.KindOf(err) == fault.Unavailable:
		k.know(catalogue.Asking, nil)
	case err != nil:
		k.failed = time.Now()
		k.know(catalogue.Stale, asFault(err))
	}
	return false
}

// pause waits until the host is to be asked again; false: nobody wants that.
func (k *keeper) pause(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-k.kick:
	case <-k.l.end.Done():
	}
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	return !k.unwanted()
}

// unwanted ends a keeper whose list nobody wants, with mu held.
func (k *keeper) unwanted() bool {
	mine := k.l.keepers[k.host] == k // else the host was removed
	if !k.l.closed && mine && (k.moving || k.l.wanted(k.host)) {
		return false
	}
	if mine {
		delete(k.l.keepers, k.host)
	}
	k.know(catalogue.Unasked, nil)
	k.l.forget()
	k.l.anew()
	return true
}

func asFault(err error) *fault.Error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e
	}
	return fault.Wrap(fault.Unavailable, err, "the host cannot be asked")
}

// wanted is told that somebody wants the list, with mu held. What is not known to be current is so before it is told.
func (k *keeper) wanted(ask bool) {
	switch {
	case !ask:
	case !k.live:
		if time.Since(k.failed) > failureFresh {
			k.know(catalogue.Asking, nil)
		}
		signal(k.kick)
	case k.stream != nil && !k.confirming && time.Since(k.stream.link.Vitals().Heard) > contactFresh:
		stream := k.stream
		k.confirming = k.l.spawn(func() { k.confirm(stream) })
		k.know(catalogue.Asking, nil)
	}
}

// rest is told that nobody wants the list any more, with mu held. What is on this machine is asked again in no time; a
// conversation with another goes on as long as its link, and an attempt to its end.
func (k *keeper) rest() {
	switch {
	case k.host == protocol.LocalHost:
		k.end()
	case !k.live:
		signal(k.kick)
	}
}

// end lets go of the host, with mu held.
func (k *keeper) end() {
	if k.hangUp != nil {
		k.hangUp(errUnwanted)
	}
	signal(k.kick)
}

// confirm asks whether the other end of the link is still there. If not, what is listed is stale and another way is sought.
func (k *keeper) confirm(stream *linked) {
	ctx, cancel := context.WithTimeout(k.l.end, protocol.ProbeTimeout)
	defer cancel()
	err := stream.link.Probe(ctx)
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	k.confirming = false
	switch {
	case !k.live || k.stream != stream:
	case err == nil:
		k.know(catalogue.Current, nil)
	default:
		k.hangUp(errUnconfirmed)
	}
}

// know sets what is known of the host, with mu held.
func (k *keeper) know(state catalogue.State, failure *fault.Error) {
	k.state, k.failure = state, failure
	k.show()
}

// show has the catalogue say what is known of the host, with mu held. A list that is told over a link without contact is stale,
// until there is contact again.
func (k *keeper) show() {
	now := catalogue.Host{State: k.state, Failure: k.failure, Link: k.way.State, Transport: k.way.Transport, Why: k.way.Why, Heard: k.heard}
	if k.live && k.stream != nil && lost(k.way.State) {
		now.State, now.Failure = catalogue.Stale, fault.New(fault.Unavailable, "no contact").WithHint("contact may come back: try again")
	}
	if now.State == catalogue.Stale && k.way.Heard.After(now.Heard) {
		now.Heard = k.way.Heard
	}
	if before, _ := k.l.catalogue.Host(k.host); before.Heard.After(now.Heard) {
		now.Heard = before.Heard
	}
	if k.l.catalogue.Know(k.ticket, now) {
		k.l.changed()
	}
}

// lost reports whether nothing comes over a link.
func lost(s domain.LinkState) bool {
	return s == domain.LinkSilent || s == domain.LinkReconnecting || s == domain.LinkGone
}

// watch is one attempt, and the conversation that it leads to. It returns when that has ended: told, if the list came. No
// error: there is nothing to be told.
func (k *keeper) watch() (told bool, err error) {
	talking, hangUp := context.WithCancelCause(k.l.end)
	defer hangUp(nil)
	k.l.mu.Lock()
	k.hangUp = hangUp
	k.l.mu.Unlock()
	late := time.AfterFunc(protocol.ProbeTimeout, k.late)
	defer late.Stop()
	limit := time.AfterFunc(protocol.HandshakeTimeout, func() { hangUp(noAnswer()) })
	defer limit.Stop()

	conn, stream, err := k.dial(talking)
	switch {
	case noDaemon(k.host, err):
		k.listed(nil, nil, false)
		return false, nil
	case err != nil:
		return false, because(talking, err)
	}
	defer func() { _ = conn.Close() }() // it has told all it had
	stop := context.AfterFunc(talking, func() { _ = conn.Close() })
	defer stop()
	if stream != nil {
		stream.reporting(func(r protocol.LinkReport) {
			if r.Move {
				hangUp(errMoved)
			}
		})
	}
	err = begin(conn)
	if fault.KindOf(err) == fault.Unsupported {
		return false, because(talking, k.list(talking))
	}
	for feed := (catalogue.Feed{}); err == nil; {
		var done bool
		if done, err = k.receive(conn, &feed, stream); done {
			told = true
			late.Stop()
			limit.Stop()
		}
	}
	return told, because(talking, err)
}

func noAnswer() error { return fault.New(fault.Timeout, "no answer in %s", protocol.HandshakeTimeout) }

// because is why a conversation ended: our own reason, if there was one.
func because(talking context.Context, err error) error {
	if cause := context.Cause(talking); err != nil && cause != nil {
		return cause
	}
	if err == io.EOF {
		return fault.New(fault.Unavailable, "the session daemon has ended")
	}
	return err
}

// late marks a host that has not answered in time; it may still do.
func (k *keeper) late() {
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	if !k.live && k.hangUp != nil {
		k.failed = time.Now()
		k.know(catalogue.Stale, fault.New(fault.Timeout, "no answer in %s", protocol.ProbeTimeout))
	}
}

// dial begins a session conversation with the host's daemon; stream is what it goes over to another machine.
func (k *keeper) dial(ctx context.Context) (conn ports.SessionClientConn, stream *linked, err error) {
	b := k.l.b
	var carriage io.ReadWriteCloser
	if k.host == protocol.LocalHost {
		carriage, err = b.o.Daemon.DialDaemon(ctx, protocol.ExistingOnly)
	} else {
		stream, err = b.open(ctx, wish{host: k.host, start: protocol.ExistingOnly})
		carriage = stream
	}
	if err != nil {
		return nil, nil, err
	}
	conn, err = b.o.Converse(ctx, carriage)
	return conn, stream, err
}

// address is where the host is dialed.
func (k *keeper) address() string {
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	return k.l.address(k.host)
}

// noDaemon reports whether err says that the host can be reached and no daemon runs there.
func noDaemon(host string, err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && e.Kind == fault.NotFound && (e.Peer || host == protocol.LocalHost)
}

// begin asks to be told the daemon's list. The fault is Unsupported where the daemon cannot.
func begin(conn ports.SessionClientConn) error {
	if err := conn.Send(&protocol.Watch{Catalogue: &protocol.WatchCatalogue{}}); err != nil {
		return err
	}
	m, err := conn.Receive()
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case *protocol.Refused:
		return m.Failure.Fault()
	case *protocol.Watching:
		switch {
		case m.Catalogue == nil:
			return fault.New(fault.Unsupported, "the daemon does not tell its list")
		case m.Catalogue.Failure != nil:
			return m.Catalogue.Failure.Fault()
		}
	}
	return nil
}

// receive takes the next message of a conversation in; done: the list is known as it is now.
func (k *keeper) receive(conn ports.SessionClientConn, feed *catalogue.Feed, stream *linked) (done bool, err error) {
	m, err := conn.Receive()
	if err != nil {
		return false, err
	}
	u, ok := m.(*protocol.CatalogueUpdate)
	if !ok {
		return false, fault.New(fault.Violation, "%T came in a watch of the list", m)
	}
	sessions, gone, whole, done, err := feed.Take(catalogue.Update{Base: u.Base, Sessions: u.Sessions, Gone: u.Gone, More: u.More})
	switch {
	case err != nil || !done:
		return false, err
	case whole:
		k.listed(stream, sessions, true)
		k.l.count()
		return true, nil
	}
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	k.heard = time.Now()
	if k.l.catalogue.Change(k.ticket, sessions, gone) {
		k.l.changed()
	}
	return true, nil
}

// listed takes in a host's whole list, as it is now; live: what changes will be told.
func (k *keeper) listed(stream *linked, list []domain.SessionInfo, live bool) {
	way := k.l.b.hosts.link(k.address())
	k.l.mu.Lock()
	defer k.l.mu.Unlock()
	k.live, k.stream, k.way, k.heard, k.failed, k.reached = live, stream, way, time.Now(), time.Time{}, true
	if k.l.catalogue.Replace(k.ticket, list) {
		k.l.changed()
	}
	k.know(catalogue.Current, nil)
}

// list asks a daemon for its list that cannot be watched.
func (k *keeper) list(ctx context.Context) error {
	conn, _, err := k.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // its answer has come
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := conn.Send(&protocol.Request{ID: 1, Body: &protocol.List{}}); err != nil {
		return err
	}
	m, err := conn.Receive()
	if err != nil {
		return err
	}
	r, ok := m.(*protocol.Result)
	if !ok {
		return fault.New(fault.Violation, "%T answered a request", m)
	}
	if r.Failure != nil {
		return r.Failure.Fault()
	}
	rows, ok := r.Body.(*protocol.Sessions)
	if !ok {
		return fault.New(fault.Violation, "a list was answered with %T", r.Body)
	}
	list := rows.List[:min(len(rows.List), catalogue.MaxSessions)]
	for i := range list {
		short(&list[i])
	}
	k.listed(nil, list, false)
	return nil
}

// short cuts the texts of a row to what a catalogue has.
func short(s *domain.SessionInfo) {
	s.Title = fault.Clean(s.Title)
	if len(s.Cwd) > protocol.MaxRowTextBytes {
		s.Cwd = ""
	}
	bytes := 0
	for i, arg := range s.Command {
		if bytes += len(arg); bytes > protocol.MaxRowTextBytes || i == protocol.MaxRowArgs {
			s.Command = s.Command[:i]
			return
		}
	}
}

package broker

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// DefaultIdle is how long a broker without clients stays.
const DefaultIdle = 10 * time.Minute

// Options are what a Broker needs.
type Options struct {
	Daemon ports.DaemonDialer
	// Invite connects to this machine's QUIC proxy, which says its readiness line and ends; a client's stream to
	// protocol.ProxyHost is that. Nil: nobody is let in this way.
	Invite  func(ctx context.Context) (io.ReadWriteCloser, error)
	Remote  Remote
	Hosts   ports.HostStore   // that the user has added; nil: none can be
	Visitor ports.HostVisitor // for what needs no link, or comes before one; nil: no other machine is known
	Warn    func(error)       // what nobody can be told; set where Hosts is
	Version string
	Idle    time.Duration // without a client before Run returns; 0: DefaultIdle
	// Converse begins conversations with daemons, for the catalogue; nil: Subscribed must not be called.
	Converse ports.SessionConverse
	// Refused counts the connections of other users that were closed, or is nil.
	Refused func() uint64
}

// Broker is the service. Any goroutine may call its methods.
type Broker struct {
	o        Options
	started  time.Time
	changed  chan struct{} // a client came or went; holds one note for any number
	hosts    *hosts
	members  *members
	lists    *lists
	previews *previews

	// mu is a leaf: under it nothing waits.
	mu      sync.Mutex
	clients map[ports.BrokerConn]struct{}
	past    protocol.ConnNumbers // of clients that have gone
}

// New returns a broker without clients.
func New(o Options) *Broker {
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	b := &Broker{
		o: o, started: time.Now(), changed: make(chan struct{}, 1),
		members: &members{store: o.Hosts, warn: o.Warn}, clients: make(map[ports.BrokerConn]struct{}),
	}
	b.lists = newLists(b)
	b.members.changed = b.lists.rejoined
	b.previews = newPreviews(b)
	if o.Remote.Policy == nil {
		o.Remote.Policy = b.members.transport
	}
	if o.Remote.Reach == nil && o.Visitor != nil {
		o.Remote.Reach = knocking(o.Visitor)
	}
	told := o.Remote.Changed
	o.Remote.Changed = func(host string) {
		b.lists.moved(host)
		if told != nil {
			told(host)
		}
	}
	b.hosts = newHosts(o.Remote)
	b.members.removed = b.hosts.removed
	return b
}

// Close ends the links to other machines and returns when nothing of them runs any more. Every
// Serve has returned before, or fails to open streams from now on.
func (b *Broker) Close() {
	b.previews.close()
	b.lists.close()
	b.hosts.close()
}

// Run returns nil once there has been no client for the idle time, or ctx's cause. It may be
// called again: a client that came in the last moment is served like any other.
func (b *Broker) Run(ctx context.Context) error {
	timer := time.NewTimer(b.o.Idle)
	defer timer.Stop()
	var woke <-chan struct{}
	if s := b.o.Remote.Sleep; s != nil {
		woke = s.Woke()
	}
	for {
		if b.busy() {
			timer.Stop()
		} else {
			timer.Reset(b.o.Idle)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-b.changed:
		case <-woke:
			b.hosts.woke()
		case <-timer.C:
			if !b.busy() {
				return nil
			}
		}
	}
}

func (b *Broker) busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.clients) > 0
}

// Serve grants a client's streams until the client goes (nil), breaks the protocol (the
// violation), or ctx ends: then the client is told that the broker is ending. It closes conn
// and returns when every relay has ended.
func (b *Broker) Serve(ctx context.Context, conn ports.BrokerConn) error {
	b.enter(conn)
	defer b.leave(conn)
	relaying, stop := context.WithCancel(ctx)
	var relays sync.WaitGroup
	defer relays.Wait()
	defer stop() // the daemons' connections: what a relay is stuck in ends with them
	for {
		req, err := conn.Accept(ctx)
		if err != nil {
			return errors.Join(served(ctx, err), conn.Close(farewell))
		}
		relays.Go(func() { b.answer(relaying, req) })
	}
}

var farewell = protocol.Failure{Kind: fault.Unavailable, Text: "the broker is ending", Hint: "try again: a new one starts"}

// served is why serving a client ended, nil when nothing was wrong.
func served(ctx context.Context, err error) error {
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

func (b *Broker) enter(conn ports.BrokerConn) {
	b.mu.Lock()
	b.clients[conn] = struct{}{}
	b.mu.Unlock()
	b.notify()
}

func (b *Broker) leave(conn ports.BrokerConn) {
	last := conn.Numbers()
	b.mu.Lock()
	delete(b.clients, conn)
	b.past = sum(b.past, last)
	b.mu.Unlock()
	b.notify()
}

// notify makes Run look again.
func (b *Broker) notify() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// HostLink is what is known of the way to a host.
func (b *Broker) HostLink(host string) domain.HostLink { return b.hosts.link(host) }

// Numbers is what the broker holds and has done.
func (b *Broker) Numbers() protocol.BrokerNumbers {
	b.mu.Lock()
	total := b.past
	clients := make([]ports.BrokerConn, 0, len(b.clients))
	for c := range b.clients {
		clients = append(clients, c)
	}
	b.mu.Unlock()
	var live protocol.ConnNumbers
	for _, c := range clients {
		live = sum(live, c.Numbers())
	}
	total = sum(total, live)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	up := time.Since(b.started)
	n := protocol.BrokerNumbers{
		Pid: os.Getpid(), Version: b.o.Version, Uptime: up, UptimeMS: up.Milliseconds(),
		Clients: len(clients), Streams: live.Streams, StreamsTotal: total.StreamsTotal,
		ParkedBytes: live.ParkedBytes, CreditOwedBytes: live.CreditOwedBytes,
		BytesIn: total.BytesIn, BytesOut: total.BytesOut, FramesIn: total.FramesIn, FramesOut: total.FramesOut,
		CreditWaits: total.CreditWaits, FlowErrors: total.FlowErrors,
		HeapBytes: mem.HeapAlloc, Goroutines: runtime.NumGoroutine(),
	}
	if b.o.Refused != nil {
		n.ForeignRefused = b.o.Refused()
	}
	return n
}

func sum(a, b protocol.ConnNumbers) protocol.ConnNumbers {
	return protocol.ConnNumbers{
		Streams: a.Streams + b.Streams, StreamsTotal: a.StreamsTotal + b.StreamsTotal,
		ParkedBytes: a.ParkedBytes + b.ParkedBytes, CreditOwedBytes: a.CreditOwedBytes + b.CreditOwedBytes,
		BytesIn: a.BytesIn + b.BytesIn, BytesOut: a.BytesOut + b.BytesOut,
		FramesIn: a.FramesIn + b.FramesIn, FramesOut: a.FramesOut + b.FramesOut,
		CreditWaits: a.CreditWaits + b.CreditWaits, FlowErrors: a.FlowErrors + b.FlowErrors,
	}
}

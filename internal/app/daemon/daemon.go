package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/streambus"
)

// Times of a daemon's life.
const (
	DefaultIdle = 5 * time.Second // without session and conversation, then Run returns
	keepExited  = 24 * time.Hour  // an exited session nobody looked at is forgotten then
)

// Options are what a daemon is made of.
type Options struct {
	Programs ports.Programs
	Version  string        // for stats
	Log      *slog.Logger  // nil: nothing is logged
	Audit    ports.Audit   // of what requests type; nil: none is kept
	Agents   ports.Agents  // nil: sessions keep the agent of whoever made them
	Idle     time.Duration // 0: DefaultIdle
	// Environment is this process's own, for sessions that are asked for from another machine; nil: it is empty.
	Environment func() []string
	// Refused counts connections of other users that were refused, for stats; may be nil.
	Refused func() uint64
}

// Daemon is the service. Make it with New, give each conversation to Serve, end it with Close.
type Daemon struct {
	o         Options
	started   time.Time
	numbers   counters
	floor     floor
	runBytes  atomic.Int64 // output of runs that nobody has read
	bus       *streambus.Bus
	eventBase uint64         // what the bus's sequences count from, as numbers of events
	changed   chan struct{}  // cap 1: something Run looks at has changed
	running   sync.WaitGroup // goroutines of sessions
	rows      rows           // who watches the list of sessions

	// Guarded by mu, a leaf lock.
	mu            sync.Mutex
	closed        bool
	sessions      map[domain.SessionID]*session
	names         map[string]*session // nil: taken by a session that is being made
	attachments   map[protocol.Token]*attachment
	conversations int
	made          uint64 // sessions ever
	attached      uint64 // attachments ever
}

// New returns a daemon without sessions. It starts nothing.
func New(o Options) *Daemon {
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	now := time.Now()
	return &Daemon{
		o: o, started: now, changed: make(chan struct{}, 1), eventBase: uint64(now.UnixMicro()),
		sessions:    map[domain.SessionID]*session{},
		names:       map[string]*session{},
		bus:         newBus(),
		floor:       floor{crowded: runtime.GOMAXPROCS(0) <= fewProcessors},
		attachments: map[protocol.Token]*attachment{},
	}
}

// Run returns nil once there has been no session and no conversation for the idle time, or
// the context's cause. It may be called again.
func (d *Daemon) Run(ctx context.Context) error {
	timer := time.NewTimer(d.o.Idle)
	defer timer.Stop()
	for {
		if d.busy() {
			timer.Stop()
		} else {
			timer.Reset(d.o.Idle)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-d.changed:
		case <-timer.C:
			if !d.busy() {
				return nil
			}
		}
	}
}

func (d *Daemon) busy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.names) > 0 || d.conversations > 0
}

// notify makes Run look again.
func (d *Daemon) notify() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// Close ends every session, its program asked first and killed when ctx ends, and returns
// when their goroutines have ended. New sessions are refused from then on.
func (d *Daemon) Close(ctx context.Context) {
	d.mu.Lock()
	d.closed = true
	all := make([]*session, 0, len(d.sessions))
	for _, s := range d.sessions {
		all = append(all, s)
	}
	d.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() { s.kill(ctx) })
	}
	wg.Wait() // each has left the registry, which ends its goroutines
	d.running.Wait()
}

// create makes and starts a session. A created session runs until its program ends, whatever
// becomes of the conversation that asked.
func (d *Daemon) create(c protocol.Create) (*session, error) {
	name, err := d.reserve(c.Name)
	if err != nil {
		return nil, err
	}
	s, err := d.start(name, c)
	if err == nil {
		s.mu.Lock()
		s.tell(domain.Event{Type: domain.EventCreated, Text: strings.Join(s.command, " ")}, s.created)
		s.mu.Unlock()
	}
	if err == nil && d.enlist(name, s) {
		return s, nil
	}
	if err == nil {
		s.abandon()
		err = errEnding()
	}
	d.mu.Lock()
	delete(d.names, name)
	d.mu.Unlock()
	d.notify()
	return nil, err
}

// enlist makes a started session known and lets it run; false: the daemon is ending.
func (d *Daemon) enlist(name string, s *session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.made++
	s.order = d.made
	d.sessions[s.id], d.names[name] = s, s
	s.launch()
	d.rows.note(s.id)
	return true
}

func errEnding() error {
	return fault.New(fault.Unavailable, "the daemon is ending").WithHint("try again: a new one starts")
}

// reserve takes name, or the lowest free number, so that two creations cannot share it.
func (d *Daemon) reserve(name string) (string, error) {
	if name != "" {
		if err := domain.CheckName(name); err != nil {
			return "", err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return "", errEnding()
	case len(d.names) >= protocol.MaxSessions:
		return "", fault.New(fault.Limit, "there are %d sessions, the most there can be", len(d.names)).
			WithHint("end some with vev kill")
	case name == "":
		name = domain.LowestFree(func(n string) bool { _, taken := d.names[n]; return taken })
	default:
		if _, taken := d.names[name]; taken {
			return "", fault.New(fault.Conflict, "session %q exists", name).
				WithHint("attach to it with vev attach %s", name)
		}
	}
	d.names[name] = nil
	return name, nil
}

// find returns the session with this name or id; "" is the most recently used one.
func (d *Daemon) find(want string) (*session, error) {
	if want == "" {
		return d.latest()
	}
	d.mu.Lock()
	s, names := d.lookup(want)
	d.mu.Unlock()
	if s != nil {
		return s, nil
	}
	err := fault.New(fault.NotFound, "no session %q", fault.Clean(want))
	if near := domain.Nearest(want, names); near != "" {
		return nil, err.WithHint("did you mean %q?", near)
	}
	if len(names) == 0 {
		return nil, err.WithHint("there are no sessions; vev new %s makes one", fault.Clean(want))
	}
	return nil, err.WithHint("vev ls shows what there is")
}

// lookup returns the session, or the names there are. The caller holds mu.
func (d *Daemon) lookup(want string) (*session, []string) {
	if s := d.names[want]; s != nil {
		return s, nil
	}
	names := make([]string, 0, len(d.names))
	for name, s := range d.names {
		if s != nil && s.id.String() == want {
			return s, nil
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return nil, names
}

func (d *Daemon) latest() (*session, error) {
	var best *session
	var bestInfo domain.SessionInfo
	for _, s := range d.all() {
		info, listed := s.row(brief)
		if !listed {
			continue
		}
		if best == nil || laterUsed(info, bestInfo) {
			best, bestInfo = s, info
		}
	}
	if best == nil {
		return nil, fault.New(fault.NotFound, "there are no sessions").WithHint("vev new makes one")
	}
	return best, nil
}

// laterUsed orders sessions for "most recently used": running ones first.
func laterUsed(a, b domain.SessionInfo) bool {
	if a.State != b.State {
		return a.State == domain.Running
	}
	return a.LastUsed.After(b.LastUsed)
}

// all returns the sessions in order of creation.
func (d *Daemon) all() []*session {
	d.mu.Lock()
	list := make([]*session, 0, len(d.sessions))
	for _, s := range d.sessions {
		list = append(list, s)
	}
	d.mu.Unlock()
	slices.SortFunc(list, func(a, b *session) int {
		return cmp.Compare(a.order, b.order)
	})
	return list
}

// list returns the rows of vev ls.
func (d *Daemon) list(with detail) []domain.SessionInfo {
	var rows []domain.SessionInfo
	for _, s := range d.all() {
		if info, listed := s.row(with); listed {
			rows = append(rows, info)
		}
	}
	return rows
}

// rename gives a session another name.
func (d *Daemon) rename(want, name string) error {
	if err := domain.CheckName(name); err != nil {
		return err
	}
	s, err := d.find(want)
	if err != nil {
		return err
	}
	d.mu.Lock()
	if _, taken := d.names[name]; taken {
		d.mu.Unlock()
		return fault.New(fault.Conflict, "session %q exists", name).WithHint("vev ls shows the names that are taken")
	}
	old := s.name
	if d.names[old] == s {
		delete(d.names, old)
		d.names[name] = s
		s.name = name
	}
	d.mu.Unlock()
	d.rows.note(s.id)
	s.publish(protocol.Renamed{Name: name})
	s.mu.Lock()
	s.tell(domain.Event{Type: domain.EventRenamed, Text: old}, time.Now())
	s.mu.Unlock()
	return nil
}

// forget removes a session and its attachments from the registry; the name is free again.
func (d *Daemon) forget(s *session, tokens []protocol.Token) {
	d.mu.Lock()
	delete(d.sessions, s.id)
	if d.names[s.name] == s {
		delete(d.names, s.name)
	}
	for _, t := range tokens {
		delete(d.attachments, t)
	}
	d.mu.Unlock()
	d.rows.note(s.id)
	d.notify()
}

// random fills p; a machine without randomness cannot name a session, and crypto/rand ends
// the process then.
func random(p []byte) { _, _ = rand.Read(p) }

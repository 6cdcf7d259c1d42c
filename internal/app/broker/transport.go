package broker

import (
	"context"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// Remote is what a broker needs to reach other machines. Nothing of it may wait but the dialers and Reach.
type Remote struct {
	SSH  ports.LinkDialer   // nil: this machine is all there is
	QUIC ports.BesideDialer // nil: ssh is all there is
	// Resumable reports whether QUIC can reach a host without ssh. Set with QUIC.
	Resumable func(host string) bool
	// Forget has QUIC know nothing of a host any more: what reaches it next begins with ssh. Set with QUIC, or nil.
	Forget func(host string)
	// Policy is the transport that a host may be reached by; nil: as the user has added it, else any.
	Policy func(host string) domain.Transport
	// Reach reports whether the host lets a connection to its ssh server through, without logging in: nil where it does,
	// Unsupported where that cannot be known. Nil: the visitor knocks, or it never is.
	Reach func(ctx context.Context, host string) error
	Sleep ports.Sleep // nil: this machine never does
	// Changed is told of a host whose link has another state or transport. It must not call the broker. Nil: nobody is told.
	Changed func(host string)
}

const (
	// betterAfter is how long a link over ssh is used before one over QUIC is made beside it: what asks one thing need not
	// wait for two.
	betterAfter = time.Second
	// betterTimeout bounds that attempt.
	betterTimeout = protocol.HandshakeTimeout
	// Where QUIC does not get through it is tried again after firstBlocked, doubled each time up to lastBlocked.
	firstBlocked = time.Minute
	lastBlocked  = 30 * time.Minute
	// sshAfter is the start of QUIC, where it got through before, over ssh.
	sshAfter = time.Second
	// Where a link is lost that QUIC carried, ssh is begun reachedAfter, and four round trips, after its server lets a
	// connection through, which is tried every reachEvery: else nothing gets through, and QUIC is back the sooner. Where
	// that cannot be known it is begun after unknownAfter.
	reachedAfter = 500 * time.Millisecond
	reachEvery   = 2 * time.Second
	unknownAfter = 5 * time.Second
)

// choice is what is known of QUIC to a host.
type choice struct {
	quic   bool   // it got through the last time
	why    string // that ssh carries the link all the same
	trying bool   // a link over it is made beside one over ssh
	pause  time.Duration
	tryAt  time.Time // not before
	denied bool      // ssh would have to ask to begin it: it is not tried again, which would count as failed logins there
}

func (h *hosts) policy(name string) domain.Transport {
	if h.o.Policy == nil {
		return domain.TransportAuto
	}
	return h.o.Policy(name)
}

// lanes are the ways that a search goes. Where QUIC got through before it goes ahead; where it did not it waits until there
// is a link over ssh, which better makes one beside.
func (w *way) lanes(wish wish) []lane {
	h := w.hosts
	again := wish.ask == nil && w.pulse.Reached()
	ssh := lane{dialer: h.o.SSH, ask: wish.ask, again: again}
	if _, ok := h.o.SSH.(ports.OpeningDialer); ok && !again && wish.public && len(wish.first) > 0 {
		ssh.ahead = &protocol.Opening{Host: protocol.LocalHost, Start: wish.start, First: wish.first, Public: true}
	}
	quic := lane{dialer: h.o.QUIC, ask: wish.ask, again: again}
	switch policy := h.policy(w.name); {
	case policy == domain.TransportSSH || h.o.QUIC == nil && policy == domain.TransportAuto:
		return []lane{ssh}
	case h.o.QUIC == nil:
		return []lane{{dialer: noQUIC{h.o.SSH}}}
	case policy == domain.TransportQUIC:
		return []lane{quic}
	case !w.choice.quic || !h.o.Resumable(w.name):
		return []lane{ssh}
	}
	quic.ask, quic.again = nil, true // ssh asks
	quic.may = func() bool { return h.o.Resumable(w.name) }
	ssh.hold = func(ctx context.Context, failed <-chan struct{}) { pause(ctx, failed, sshAfter) }
	if again {
		start := reachedAfter + 4*w.rtt
		if w.link != nil {
			start = reachedAfter + 4*w.link.Vitals().RTT
		}
		ssh.hold = func(ctx context.Context, failed <-chan struct{}) { h.reached(ctx, failed, w.name, start) }
	}
	return []lane{quic, ssh}
}

// noQUIC refuses where QUIC alone is allowed and this program has none.
type noQUIC struct{ ports.LinkDialer }

func (noQUIC) DialLink(context.Context, string, ports.Ask) (ports.Link, error) {
	return nil, fault.New(fault.Unsupported, "this broker has no QUIC").WithHint("a newer vev may; or allow the host ssh")
}

// pause waits, at most until ctx ends or failed is closed.
func pause(ctx context.Context, failed <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-failed:
	case <-ctx.Done():
	}
}

// reached waits until the host can be reached but by QUIC, as far as that can be known, and for QUIC's start over it; at
// most until ctx ends or failed is closed.
func (h *hosts) reached(ctx context.Context, failed <-chan struct{}, name string, start time.Duration) {
	if h.o.Reach == nil {
		pause(ctx, failed, unknownAfter)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for ctx.Err() == nil {
		err := h.reach(ctx, failed, name)
		switch {
		case err == nil:
			pause(ctx, failed, start)
			return
		case fault.KindOf(err) == fault.Unsupported:
			pause(ctx, failed, unknownAfter)
			return
		}
		select {
		case <-failed:
			return
		default:
		}
	}
}

// knocking is a Reach by a visitor.
func knocking(v ports.HostVisitor) func(ctx context.Context, name string) error {
	return func(ctx context.Context, name string) error {
		host, err := domain.ParseHost(name)
		if err != nil {
			return err
		}
		at, err := v.Locate(ctx, host)
		if err != nil {
			return err
		}
		if at.Through != "" {
			return fault.New(fault.Unsupported, "ssh goes there by another way")
		}
		if at.Addrs, err = v.Resolve(ctx, at.Name); err == nil {
			_, err = v.Knock(ctx, at)
		}
		return err
	}
}

// reach tries once; a try that fails takes reachEvery.
func (h *hosts) reach(ctx context.Context, failed <-chan struct{}, name string) error {
	ctx, cancel := context.WithTimeout(ctx, reachEvery)
	defer cancel()
	result := make(chan error, 1)
	h.all.Go(func() { result <- h.o.Reach(ctx, name) })
	select {
	case <-failed:
		cancel()
		return <-result
	case err := <-result:
		if err != nil && fault.KindOf(err) != fault.Unsupported {
			pause(ctx, failed, reachEvery)
		}
		return err
	}
}

// up is told what carries a new link.
func (c *choice) up(t domain.Transport, now time.Time) {
	switch {
	case t == domain.TransportQUIC:
		*c = choice{quic: true, trying: c.trying}
	case c.quic:
		c.blocked("QUIC does not get through any more", now)
	case c.tryAt.Before(now.Add(betterAfter)):
		c.tryAt = now.Add(betterAfter)
	}
}

// blocked notes that QUIC does not get through.
func (c *choice) blocked(why string, now time.Time) {
	c.quic, c.why = false, why
	c.pause = min(max(2*c.pause, firstBlocked), lastBlocked)
	c.tryAt = now.Add(c.pause)
}

// woke is told that this machine has slept, and may be elsewhere.
func (c *choice) woke(now time.Time) {
	c.pause = 0
	if c.tryAt.After(now.Add(betterAfter)) {
		c.tryAt = now.Add(betterAfter)
	}
}

// better begins to make a link over QUIC beside a used one over ssh, where the policy wants that, and returns when to look
// for that again.
func (w *way) better(now time.Time) (next time.Time) {
	h, l, c := w.hosts, w.link, &w.choice
	if h.o.QUIC == nil || l == nil || c.denied || l.transport == domain.TransportQUIC || c.trying || w.streams == 0 ||
		h.policy(w.name) != domain.TransportAuto {
		return next
	}
	if now.Before(c.tryAt) {
		return c.tryAt
	}
	c.trying = true
	h.all.Go(func() { h.tryBetter(w, l) })
	return next
}

func (h *hosts) tryBetter(w *way, ssh *link) {
	ctx, cancel := context.WithTimeout(h.end, betterTimeout)
	defer cancel()
	link, err := h.o.QUIC.DialBeside(ctx, w.name, ssh)
	if err == nil {
		if err = link.Probe(ctx); err != nil {
			_ = link.Close()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	w.choice.trying = false
	switch now := time.Now(); {
	case err != nil:
		w.choice.blocked("QUIC: "+reason(err), now)
		w.choice.denied = fault.KindOf(err) == fault.Denied
		w.look(now)
	case h.closed, w.removed(), h.policy(w.name) != domain.TransportAuto, w.link == nil && w.search == nil && w.streams == 0:
		h.all.Go(func() { _ = link.Close() })
	default:
		w.up(link)
	}
}

// reason is an error in words that may be shown.
func reason(err error) string { return protocol.FailureOf(err).Text }

package main

import (
	"context"
	"slices"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/catalogue"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// listGrace is how much longer than the broker's own deadline for a host a command waits for what it says then.
const listGrace = time.Second

// question is what a command wants to know of the catalogue.
type question struct {
	hosts []string // none: all
	reach protocol.Reach
	start bool          // the broker may be started
	wait  time.Duration // for hosts that are being asked
	// partly is shown what is known, while hosts are still asked, each time nothing else has come for partlyAfter; or nil. An
	// error ends the command.
	partly func(*listing) error
}

// partlyAfter is long enough for the hosts that answer in about the same time to come together.
const partlyAfter = 100 * time.Millisecond

// listing is an answer: some hosts may still be asked when the time is up.
type listing struct {
	hosts    []catalogue.Host
	sessions []catalogue.Session
}

// host is what is known of one.
func (l *listing) host(name string) (h catalogue.Host, known bool) {
	i := slices.IndexFunc(l.hosts, func(h catalogue.Host) bool { return h.Name == name })
	if i < 0 {
		return h, false
	}
	return l.hosts[i], true
}

// of are the sessions of a host.
func (l *listing) of(host string) []domain.SessionInfo {
	var list []domain.SessionInfo
	for i := range l.sessions {
		if l.sessions[i].Host == host {
			list = append(list, l.sessions[i].SessionInfo)
		}
	}
	return list
}

// anyHost makes a dialer offer this login's agent to the broker: what is asked may be elsewhere.
var anyHost = domain.Host{Name: "any"}

// list asks the broker for the catalogue and waits until no host is being asked any more, or the time is up: then it is
// what is known. The fault is Unavailable where there is no broker and none is to be started.
func (c *cli) list(ctx context.Context, q question) (*listing, error) {
	broker, err := dialer(anyHost, protocol.ExistingOnly).Catalogue(ctx, q.start)
	if err != nil {
		return nil, err
	}
	defer func() { _ = broker.Close() }() // nothing in it could be lost
	broker.Subscribe(q.hosts, q.reach)
	timer := time.NewTimer(q.wait)
	defer timer.Stop()
	quiet := time.NewTimer(partlyAfter)
	defer quiet.Stop()
	for {
		hosts, sessions, ready, err := broker.Listed()
		answer := &listing{hosts, sessions}
		if err != nil || ready && !slices.ContainsFunc(hosts, isAsked) {
			return answer, err
		}
		select {
		case <-broker.Changes():
			quiet.Reset(partlyAfter)
		case <-quiet.C:
			if ready && q.partly != nil {
				if err := q.partly(answer); err != nil {
					return nil, err
				}
			}
		case <-timer.C:
			if !ready {
				return nil, fault.New(fault.Timeout, "the broker does not tell what there is").WithHint("vev doctor shows what runs")
			}
			return answer, nil
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Canceled, context.Cause(ctx), "the list was given up")
		}
	}
}

func isAsked(h catalogue.Host) bool { return h.State == catalogue.Asking }

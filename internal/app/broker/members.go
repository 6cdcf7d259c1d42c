package broker

import (
	"context"
	"sync/atomic"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// members are the hosts that the user has added. Other brokers may change them too: a home can serve many machines.
type members struct {
	store ports.HostStore // nil: there are none, and none can be added
	warn  func(error)
	// changed is told what this broker has made of the set.
	changed func(domain.Hosts)
	// removed is told once of each removal, whoever made it, and of the set since.
	removed func(domain.RemovedHost, domain.Hosts)

	last  atomic.Pointer[domain.Hosts] // as it was seen last; nil: not yet
	heard atomic.Uint64                // revision up to which removals were told
}

// load is the set as it is kept now; if that cannot be read, as it was seen last.
func (m *members) load() domain.Hosts {
	if m.store == nil {
		return domain.Hosts{}
	}
	hosts, notice, err := m.store.Load()
	m.noticed(notice)
	if err != nil {
		m.warn(err)
		return m.seen()
	}
	m.saw(hosts)
	return hosts
}

// saw takes note of the set, as it was read. What was removed before it was read first has left nothing here.
func (m *members) saw(hosts domain.Hosts) {
	first := m.last.Swap(&hosts) == nil
	for {
		before := m.heard.Load()
		if hosts.Revision <= before {
			return
		}
		if !m.heard.CompareAndSwap(before, hosts.Revision) {
			continue
		}
		for _, r := range hosts.Removed {
			if !first && r.Revision > before {
				m.removed(r, hosts)
			}
		}
		return
	}
}

func (m *members) seen() domain.Hosts {
	if last := m.last.Load(); last != nil {
		return *last
	}
	return domain.Hosts{}
}

// transport is what an address may be reached over, as the set was seen last. It never waits.
func (m *members) transport(address string) domain.Transport {
	host, err := domain.ParseHost(address)
	if err != nil {
		return domain.TransportAuto
	}
	return m.seen().TransportTo(host)
}

func (m *members) noticed(notice *fault.Error) {
	if notice != nil {
		m.warn(notice)
	}
}

// change keeps what change makes of the set. told hears what else there is to say.
func (m *members) change(ctx context.Context, told func(*fault.Error), change func(domain.Hosts) (domain.Hosts, error)) error {
	if m.store == nil {
		return fault.New(fault.Unsupported, "this broker keeps no hosts")
	}
	hosts, notice, err := m.store.Change(ctx, change)
	m.noticed(notice)
	if notice != nil {
		told(notice)
	}
	if err == nil {
		m.saw(hosts)
		m.changed(hosts)
	}
	return err
}

// target is a host that somebody has named, as it is reached.
type target struct {
	named   string // as the client said it
	address string // for a LinkDialer
	host    domain.Host
	policy  domain.HostPolicy
}

// resolve says what a host is that a client names. What cannot be read stays as it is: who dials it says why. The fault is a
// Conflict: the host was removed.
func (m *members) resolve(named string) (target, error) {
	host, err := domain.ParseHost(named)
	if err != nil {
		return target{named: named, address: named}, nil
	}
	hosts := m.load()
	address, policy, _ := hosts.Resolve(host)
	return target{named: named, address: address.String(), host: address, policy: policy}, hosts.Reachable(host)
}

// explain is err, but for a daemon that was to be started and by the host's policy must not be.
func (t target) explain(err error, asked protocol.StartPolicy) error {
	if fault.KindOf(err) != fault.NotFound || asked != protocol.StartIfNeeded || t.policy.Start != protocol.ExistingOnly {
		return err
	}
	return fault.New(fault.Denied, "no daemon runs there, and none is to be started").
		WithHint("vev host set %s --start needed changes that", fault.Clean(t.named))
}

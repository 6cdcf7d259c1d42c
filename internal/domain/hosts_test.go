package domain_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

func host(t require.TestingT, text string) domain.Host {
	h, err := domain.ParseHost(text)
	require.NoError(t, err)
	return h
}

func known(t require.TestingT, alias, address string) domain.KnownHost {
	return domain.KnownHost{Alias: alias, Address: host(t, address), Added: time.Unix(1_700_000_000, 5)}
}

func TestHostsAreAddedAndRemoved(t *testing.T) {
	var none domain.Hosts
	one, err := none.Add(known(t, "desk", "ann@desk.example"))
	require.NoError(t, err)
	require.Empty(t, none.Known, "a set is a value")
	two, err := one.Add(known(t, "box", "ssh://box:2222"))
	require.NoError(t, err)
	require.Len(t, one.Known, 1)
	require.Equal(t, []string{"box", "desk"}, []string{two.Known[0].Alias, two.Known[1].Alias}, "in order")
	require.EqualValues(t, 2, two.Revision)
	require.EqualValues(t, 1, two.Known[1].Since)
	require.Equal(t, time.Unix(1_700_000_000, 0).UTC(), two.Known[0].Added)

	for what, h := range map[string]domain.KnownHost{"alias": known(t, "desk", "other"), "address": known(t, "other", "ann@desk.example")} {
		same, err := two.Add(h)
		require.Equal(t, fault.Conflict, fault.KindOf(err), what)
		require.Contains(t, err.Error(), "desk")
		var e *fault.Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Hint, "vev host install desk; ", what)
		require.Equal(t, two, same)
	}
	gone, err := two.Remove("desk")
	require.NoError(t, err)
	require.Equal(t, []domain.RemovedHost{{Alias: "desk", Address: host(t, "ann@desk.example"), Revision: 3}}, gone.Removed)
	_, err = gone.Remove("desk")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	_, err = gone.Remove("bix")
	require.ErrorContains(t, err, `no host "bix" is known`)
	require.Contains(t, err.(*fault.Error).Hint, "did you mean box?")

	set, err := gone.Update("box", domain.HostPolicy{Transport: domain.TransportSSH, Start: domain.ExistingOnly})
	require.NoError(t, err)
	require.EqualValues(t, 4, set.Revision)
	same, err := set.Update("box", set.Known[0].Policy)
	require.NoError(t, err)
	require.Equal(t, set, same, "nothing has changed")
	for _, p := range []domain.HostPolicy{{Transport: 3}, {Start: 2}} {
		_, err = set.Update("box", p)
		require.Equal(t, fault.Unsupported, fault.KindOf(err), "a newer vev may have asked for it")
	}
	_, err = set.Update("desk", domain.HostPolicy{})
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}

func TestWhatIsNoHostIsNotAdded(t *testing.T) {
	var s domain.Hosts
	for _, h := range []domain.KnownHost{
		{Alias: "", Address: domain.Host{Name: "a"}},
		{Alias: "-a", Address: domain.Host{Name: "a"}},
		{Alias: "a b", Address: domain.Host{Name: "a"}},
		{Alias: strings.Repeat("a", domain.MaxAliasBytes+1), Address: domain.Host{Name: "a"}},
		{Alias: "a"},
		{Alias: "a", Address: domain.Host{Name: "-a"}},
		{Alias: "a", Address: domain.Host{Name: "a", Port: -1}},
		{Alias: "a", Address: domain.Host{Name: strings.Repeat("a", 253), User: "ann"}},
	} {
		_, err := s.Add(h)
		require.Equal(t, fault.Usage, fault.KindOf(err), "%+v", h)
	}
	_, err := s.Add(domain.KnownHost{Alias: strings.Repeat("a", domain.MaxAliasBytes), Address: domain.Host{Name: strings.Repeat("a", 253)}})
	require.NoError(t, err)
}

func TestHostsAreBounded(t *testing.T) {
	var s domain.Hosts
	var err error
	for i := range domain.MaxHosts {
		s, err = s.Add(known(t, fmt.Sprint("h", i), fmt.Sprint("h", i)))
		require.NoError(t, err)
	}
	_, err = s.Add(known(t, "more", "more"))
	require.Equal(t, fault.Limit, fault.KindOf(err))
	for i := range domain.MaxRemovedHosts + 1 {
		s, err = s.Remove(fmt.Sprint("h", i%domain.MaxHosts))
		require.NoError(t, err)
		s, err = s.Add(known(t, fmt.Sprint("h", i%domain.MaxHosts), fmt.Sprint("new", i)))
		require.NoError(t, err)
		require.LessOrEqual(t, len(s.Removed), domain.MaxRemovedHosts)
		require.NoError(t, s.Check())
	}
}

func TestWhatAHostResolvesTo(t *testing.T) {
	var s domain.Hosts
	desk := known(t, "desk", "ssh://ann@desk.example:2222")
	desk.Policy.Transport = domain.TransportSSH
	s, err := s.Add(desk)
	require.NoError(t, err)
	for named, want := range map[string]string{
		"desk": "ssh://ann@desk.example:2222", "bob@desk": "ssh://bob@desk.example:2222", "ssh://desk:22": "ssh://ann@desk.example:22",
		"ssh://ann@desk.example:2222": "ssh://ann@desk.example:2222",
	} {
		address, policy, k := s.Resolve(host(t, named))
		require.Equal(t, want, address.String(), named)
		require.Equal(t, domain.TransportSSH, policy.Transport, named)
		require.Equal(t, "desk", k.Alias, named)
	}
	address, policy, k := s.Resolve(host(t, "desk.example"))
	require.Equal(t, host(t, "desk.example"), address, "another user, another port: another host")
	require.Zero(t, policy)
	require.Nil(t, k)
	address, _, k = s.Resolve(domain.Host{})
	require.True(t, address.Local())
	require.Nil(t, k)
	for address, want := range map[string]domain.Transport{
		"ssh://ann@desk.example:2222": domain.TransportSSH, "bob@desk.example": domain.TransportSSH, "desk": domain.TransportAuto,
	} {
		require.Equal(t, want, s.TransportTo(host(t, address)), address)
	}
	require.Equal(t, "desk", s.Named("desk"))
	require.Equal(t, "desk", s.Named("ssh://ann@desk.example:2222"))
	require.Equal(t, "none", s.Named("none"))
}

func TestTheAliasOfAHost(t *testing.T) {
	for text, want := range map[string]string{"desk": "desk", "ann@desk.example": "desk.example", "ssh://192.0.2.7:22": "192.0.2.7"} {
		alias, err := domain.AliasOf(host(t, text))
		require.NoError(t, err)
		require.Equal(t, want, alias)
	}
	for _, text := range []string{"[2001:db8::1]", strings.Repeat("a", 65), "_x"} {
		_, err := domain.AliasOf(host(t, text))
		require.Equal(t, fault.Usage, fault.KindOf(err))
		require.Contains(t, err.(*fault.Error).Hint, "--name ALIAS")
	}
}

func TestTransports(t *testing.T) {
	for _, name := range []string{"auto", "ssh", "quic"} {
		transport, err := domain.ParseTransport(name)
		require.NoError(t, err)
		require.Equal(t, name, transport.String())
	}
	_, err := domain.ParseTransport("udp")
	require.Equal(t, fault.Usage, fault.KindOf(err))
}

// What is on its way to a host that was removed comes to no other machine. An alias that was the host's own name is what it
// always was.
func TestARemovedHostIsNotAnotherOne(t *testing.T) {
	var s domain.Hosts
	s, _ = s.Add(known(t, "desk", "ssh://ann@203.0.113.7:2222"))
	s, _ = s.Add(known(t, "box", "ann@box"))
	for _, alias := range []string{"desk", "box"} {
		require.NoError(t, s.Reachable(host(t, alias)))
		s, _ = s.Remove(alias)
	}
	for _, named := range []string{"desk", "bob@desk", "ssh://desk:22"} {
		err := s.Reachable(host(t, named))
		require.Equal(t, fault.Conflict, fault.KindOf(err), named)
		require.Contains(t, err.Error(), "ssh://ann@203.0.113.7:2222")
	}
	for _, named := range []string{"box", "203.0.113.7", "other"} {
		require.NoError(t, s.Reachable(host(t, named)), named)
	}
	require.NoError(t, s.Reachable(domain.Host{}))
	again, err := s.Add(known(t, "desk", "another"))
	require.NoError(t, err)
	require.NoError(t, again.Reachable(host(t, "desk")))
}

func TestWhatARemovalLeaves(t *testing.T) {
	var s domain.Hosts
	s, _ = s.Add(known(t, "desk", "ann@box"))
	s, _ = s.Remove("desk")
	r := s.Removed[0]
	shared, err := s.Add(known(t, "inner", "ssh://box:2222"))
	require.NoError(t, err)
	for named, want := range map[string][2]bool{
		"ann@box": {true, true}, "bob@box": {true, false}, "box": {true, false}, "ssh://box:2222": {true, false},
		"other": {}, "ann@other": {},
	} {
		require.Equal(t, want, [2]bool{s.Left(r, host(t, named)), shared.Left(r, host(t, named))}, named)
	}
}

// modelHosts remembers everything in its own words.
type modelHosts struct {
	addresses map[string]string
	policies  map[string]domain.HostPolicy
	since     map[string]int
	removed   map[string]int    // revision of the last removal
	gone      map[string]string // the address then
	revision  int
}

func TestHostsModel(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(t *rapid.T) {
		var s domain.Hosts
		m := modelHosts{
			addresses: map[string]string{}, policies: map[string]domain.HostPolicy{}, since: map[string]int{}, removed: map[string]int{}, gone: map[string]string{},
		}
		name := rapid.SampledFrom(names)
		policy := rapid.Custom(func(t *rapid.T) domain.HostPolicy {
			return domain.HostPolicy{Transport: domain.Transport(rapid.IntRange(0, 3).Draw(t, "transport")), Start: domain.StartPolicy(rapid.IntRange(0, 1).Draw(t, "start"))}
		})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				k := known(t, name.Draw(t, "alias"), name.Draw(t, "address"))
				k.Policy = policy.Draw(t, "policy")
				_, there := m.addresses[k.Alias]
				there = there || slices.Contains(slices.Collect(maps.Values(m.addresses)), k.Address.Name)
				next, err := s.Add(k)
				if there || k.Policy.Transport > domain.TransportQUIC {
					require.Error(t, err)
					require.Equal(t, s, next)
					return
				}
				require.NoError(t, err)
				s = next
				m.revision++
				m.addresses[k.Alias], m.policies[k.Alias], m.since[k.Alias] = k.Address.Name, k.Policy, m.revision
			},
			"remove": func(t *rapid.T) {
				alias := name.Draw(t, "alias")
				_, there := m.addresses[alias]
				next, err := s.Remove(alias)
				require.Equal(t, there, err == nil)
				s = next
				if there {
					m.revision++
					m.gone[alias] = m.addresses[alias]
					delete(m.addresses, alias)
					delete(m.policies, alias)
					delete(m.since, alias)
					m.removed[alias] = m.revision
				}
			},
			"update": func(t *rapid.T) {
				alias, p := name.Draw(t, "alias"), policy.Draw(t, "policy")
				old, there := m.policies[alias]
				next, err := s.Update(alias, p)
				require.Equal(t, there && p.Transport <= domain.TransportQUIC, err == nil)
				s = next
				if err == nil && old != p {
					m.revision++
					m.policies[alias] = p
				}
			},
			"": func(t *rapid.T) {
				require.NoError(t, s.Check())
				require.EqualValues(t, m.revision, s.Revision)
				require.Len(t, s.Known, len(m.addresses))
				for _, k := range s.Known {
					require.Equal(t, m.addresses[k.Alias], k.Address.Name)
					require.Equal(t, m.policies[k.Alias], k.Policy)
					require.EqualValues(t, m.since[k.Alias], k.Since)
				}
				require.Len(t, s.Removed, len(m.removed))
				for _, r := range s.Removed {
					require.EqualValues(t, m.removed[r.Alias], r.Revision)
				}
				for _, alias := range names {
					_, there := m.addresses[alias]
					gone, removed := m.gone[alias]
					err := s.Reachable(domain.Host{Name: alias})
					require.Equal(t, !there && removed && gone != alias, err != nil)
				}
			},
		})
	})
}

func TestASetThatCannotBeIsFound(t *testing.T) {
	added := time.Unix(1, 0).UTC()
	a, b := known(t, "a", "a"), known(t, "b", "b")
	a.Added, b.Added, a.Since, b.Since = added, added, 1, 2
	good := domain.Hosts{Revision: 4, Known: []domain.KnownHost{a, b}, Removed: []domain.RemovedHost{{Alias: "c", Address: domain.Host{Name: "c"}, Revision: 4}}}
	require.NoError(t, good.Check())
	for name, spoil := range map[string]func(*domain.Hosts){
		"order":             func(s *domain.Hosts) { s.Known[0], s.Known[1] = s.Known[1], s.Known[0] },
		"alias twice":       func(s *domain.Hosts) { s.Known[1].Alias = "a" },
		"address twice":     func(s *domain.Hosts) { s.Known[1].Address = s.Known[0].Address },
		"bad alias":         func(s *domain.Hosts) { s.Known[0].Alias = "" },
		"bad address":       func(s *domain.Hosts) { s.Known[0].Address.Name = "-a" },
		"bad policy":        func(s *domain.Hosts) { s.Known[0].Policy.Transport = 3 },
		"since none":        func(s *domain.Hosts) { s.Known[0].Since = 0 },
		"since the future":  func(s *domain.Hosts) { s.Known[0].Since = 5 },
		"a broken second":   func(s *domain.Hosts) { s.Known[0].Added = added.Add(1) },
		"another zone":      func(s *domain.Hosts) { s.Known[0].Added = added.In(time.FixedZone("x", 3600)) },
		"removed badly":     func(s *domain.Hosts) { s.Removed[0].Alias = "-" },
		"removed too early": func(s *domain.Hosts) { s.Removed[0].Revision = 1 },
		"removed later":     func(s *domain.Hosts) { s.Removed[0].Revision = 5 },
		"removed, there":    func(s *domain.Hosts) { s.Removed[0].Alias = "a" },
		"removed twice": func(s *domain.Hosts) {
			s.Removed = append([]domain.RemovedHost{{Alias: "c", Address: domain.Host{Name: "c"}, Revision: 3}}, s.Removed...)
		},
		"removed out of order": func(s *domain.Hosts) {
			s.Removed = append(s.Removed, domain.RemovedHost{Alias: "d", Address: domain.Host{Name: "d"}, Revision: 3})
		},
		"too many": func(s *domain.Hosts) {
			s.Removed = make([]domain.RemovedHost, domain.MaxRemovedHosts+1)
		},
	} {
		bad := domain.Hosts{Revision: good.Revision, Known: slices.Clone(good.Known), Removed: slices.Clone(good.Removed)}
		spoil(&bad)
		require.Equal(t, fault.Internal, fault.KindOf(bad.Check()), name)
	}
}

package domain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// MaxHosts is how many hosts can be added; the next is refused with Limit.
	MaxHosts = 64
	// MaxRemovedHosts is how many removals are remembered; the oldest is forgotten.
	MaxRemovedHosts = 64
	// MaxAliasBytes is the longest alias.
	MaxAliasBytes = 64
	// maxHostText is the longest spelling of a host that can be asked for.
	maxHostText = 255
)

// AliasRule is the sentence shown when an alias is refused.
const AliasRule = "an alias is 1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"

// ParseTransport reads what String says of a policy. The error is a Usage fault.
func ParseTransport(s string) (Transport, error) {
	for t := TransportAuto; t <= TransportQUIC; t++ {
		if t.String() == s {
			return t, nil
		}
	}
	return 0, fault.New(fault.Usage, "no transport %q", fault.Clean(s)).WithHint("it is auto, ssh or quic")
}

// StartPolicy says whether a daemon that does not run may be started.
type StartPolicy uint32

const (
	StartIfNeeded StartPolicy = iota
	ExistingOnly
)

// HostPolicy is how a host is reached and what may be done there.
type HostPolicy struct {
	Transport Transport
	Start     StartPolicy // ExistingOnly: nobody starts a daemon there, whatever is asked for
}

// KnownHost is one that the user has added. Its alias stands for its address wherever a host is named.
type KnownHost struct {
	Alias   string
	Address Host
	Policy  HostPolicy
	Added   time.Time // in UTC, whole seconds
	Since   uint64    // revision of the set in which it was added
}

// RemovedHost remembers a removal: what is still on its way to the host by its alias must not come to another machine, which
// ssh may know by that name.
type RemovedHost struct {
	Alias    string
	Address  Host
	Revision uint64 // of the set in which it was removed
}

// Hosts is the set of hosts that the user has added, a value: its methods return another one. The
// zero value is the empty set before any change.
type Hosts struct {
	Revision uint64        // raised by one with each change
	Known    []KnownHost   // in the order of their aliases
	Removed  []RemovedHost // in the order of their revisions; at most MaxRemovedHosts, an alias once
}

// CheckAlias returns a Usage fault unless alias is a legal one.
func CheckAlias(alias string) error {
	if len(alias) >= 1 && len(alias) <= MaxAliasBytes && alnum(alias[0]) && made(alias, "._-") {
		return nil
	}
	return fault.New(fault.Usage, "bad alias %q", fault.Clean(alias)).WithHint("%s", AliasRule)
}

// AliasOf is the alias that a host gets when nobody gave it one: its name. The error is a Usage fault: the
// name is no alias.
func AliasOf(h Host) (string, error) {
	if CheckAlias(h.Name) != nil {
		return "", fault.New(fault.Usage, "%s needs a name of its own", h).WithHint("--name ALIAS; %s", AliasRule)
	}
	return h.Name, nil
}

// Find returns the host with an alias.
func (s Hosts) Find(alias string) (KnownHost, bool) {
	i, ok := s.search(alias)
	if !ok {
		return KnownHost{}, false
	}
	return s.Known[i], true
}

func (s Hosts) search(alias string) (int, bool) {
	return slices.BinarySearchFunc(s.Known, alias, func(k KnownHost, alias string) int { return strings.Compare(k.Alias, alias) })
}

// Add returns the set with h, whose Since it decides. Faults: Usage, Conflict where alias or address is
// there, Limit.
func (s Hosts) Add(h KnownHost) (Hosts, error) {
	if err := h.check(); err != nil {
		return s, err
	}
	i, taken := s.search(h.Alias)
	if taken {
		return s, fault.New(fault.Conflict, "host %s is known already, as %s", h.Alias, s.Known[i].Address).
			WithHint("another name: --name ALIAS; vev there: vev host install %s; other settings: vev host set %[1]s; away with it: vev host rm %[1]s", h.Alias)
	}
	for _, k := range s.Known {
		if k.Address == h.Address {
			return s, fault.New(fault.Conflict, "%s is known already, by the name %s", h.Address, k.Alias).
				WithHint("vev there: vev host install %s; other settings: vev host set %[1]s; away with it: vev host rm %[1]s", k.Alias)
		}
	}
	if len(s.Known) >= MaxHosts {
		return s, fault.New(fault.Limit, "%d hosts are known, the limit", MaxHosts).
			WithHint("vev host rm takes one away; a host that is not added can be used all the same")
	}
	s = s.next()
	h.Since = s.Revision
	h.Added = h.Added.UTC().Truncate(time.Second)
	s.Known = slices.Insert(slices.Clone(s.Known), i, h)
	return s, nil
}

func (h KnownHost) check() error {
	if err := CheckAlias(h.Alias); err != nil {
		return err
	}
	switch text := h.Address.String(); {
	case h.Address.Local():
		return fault.New(fault.Usage, "no host is named")
	case len(text) > maxHostText:
		return fault.New(fault.Usage, "address of %d bytes is too long, %d may be", len(text), maxHostText).
			WithHint("give it a name in ssh's configuration, and add that")
	}
	if parsed, err := ParseHost(h.Address.String()); err != nil || parsed != h.Address {
		return fault.New(fault.Usage, "bad host %q", fault.Clean(h.Address.String())).WithHint("%s", AddressRule)
	}
	return h.Policy.check()
}

func (p HostPolicy) check() error {
	switch {
	case p.Transport > TransportQUIC:
		return fault.New(fault.Unsupported, "transport %d is not known here", p.Transport).WithHint("it is auto, ssh or quic")
	case p.Start > ExistingOnly:
		return fault.New(fault.Unsupported, "start policy %d is not known here", p.Start)
	}
	return nil
}

// Remove returns the set without the host that has an alias, remembering that. The fault is NotFound.
func (s Hosts) Remove(alias string) (Hosts, error) {
	i, ok := s.search(alias)
	if !ok {
		return s, s.unknown(alias)
	}
	s = s.next()
	address := s.Known[i].Address
	s.Known = slices.Delete(slices.Clone(s.Known), i, i+1)
	removed := slices.DeleteFunc(slices.Clone(s.Removed), func(r RemovedHost) bool { return r.Alias == alias })
	removed = append(removed, RemovedHost{alias, address, s.Revision})
	s.Removed = removed[max(0, len(removed)-MaxRemovedHosts):]
	return s, nil
}

// Update returns the set with another policy for a host. Faults: NotFound, Unsupported.
func (s Hosts) Update(alias string, p HostPolicy) (Hosts, error) {
	i, ok := s.search(alias)
	if !ok {
		return s, s.unknown(alias)
	}
	if err := p.check(); err != nil || s.Known[i].Policy == p {
		return s, err
	}
	s = s.next()
	s.Known = slices.Clone(s.Known)
	s.Known[i].Policy = p
	return s, nil
}

func (s Hosts) next() Hosts {
	s.Revision++
	return s
}

func (s Hosts) unknown(alias string) error {
	err := fault.New(fault.NotFound, "no host %q is known", fault.Clean(alias))
	names := make([]string, len(s.Known))
	for i, k := range s.Known {
		names[i] = k.Alias
	}
	switch near := Nearest(alias, names); {
	case len(names) == 0:
		return err.WithHint("none is; vev host add HOST adds one")
	case near != "":
		return err.WithHint("did you mean %s? vev host ls lists them", near)
	}
	return err.WithHint("vev host ls lists them")
}

// Resolve says what a host that somebody names is: an alias stands for its address, with the user and
// the port that were named besides over the address's own. A host that was not added is itself, with the
// policy that is the zero value; known is nil then.
func (s Hosts) Resolve(named Host) (address Host, policy HostPolicy, known *KnownHost) {
	if i, ok := s.search(named.Name); ok && named.Name != "" {
		k := s.Known[i]
		address = k.Address
		address.User = cmp.Or(named.User, address.User)
		address.Port = cmp.Or(named.Port, address.Port)
		return address, k.Policy, &k
	}
	for _, k := range s.Known {
		if k.Address == named {
			return named, k.Policy, &k
		}
	}
	return named, HostPolicy{}, nil
}

// TransportTo says what a host's address may be reached over: as it, or another user or port of the same machine, was
// added; else anything.
func (s Hosts) TransportTo(address Host) Transport {
	transport := TransportAuto
	for _, k := range s.Known {
		if k.Address == address {
			return k.Policy.Transport
		}
		if k.Address.Name == address.Name {
			transport = k.Policy.Transport
		}
	}
	return transport
}

// Named is the alias of the host that somebody names by its alias or its address, else what was named.
func (s Hosts) Named(named string) string {
	if _, ok := s.search(named); ok {
		return named
	}
	for _, k := range s.Known {
		if k.Address.String() == named {
			return k.Alias
		}
	}
	return named
}

// Left reports whether an address is one of a host that was removed: as it was added, or as another user or port of that
// machine where no host of the set is on it.
func (s Hosts) Left(r RemovedHost, address Host) bool {
	on := func(k KnownHost) bool { return k.Address.Name == address.Name }
	return address == r.Address || address.Name == r.Address.Name && !slices.ContainsFunc(s.Known, on)
}

// Reachable returns a Conflict where somebody names a host by an alias that was removed and was more than the host's own name:
// it must not be taken for whatever machine has that name.
func (s Hosts) Reachable(named Host) error {
	if _, ok := s.search(named.Name); ok {
		return nil
	}
	for _, r := range s.Removed {
		if r.Alias == named.Name && r.Address.Name != r.Alias {
			return fault.New(fault.Conflict, "host %s was removed; it was %s", r.Alias, r.Address).
				WithHint("vev host add %s --name %s adds it again; vev host add %[2]s adds what ssh knows by that name", r.Address, r.Alias)
		}
	}
	return nil
}

// Check returns an Internal fault unless s could have come about by Add, Remove and Update: for a set that
// was kept somewhere.
func (s Hosts) Check() error {
	bad := func(format string, args ...any) error { return fault.New(fault.Internal, format, args...) }
	if len(s.Known) > MaxHosts || len(s.Removed) > MaxRemovedHosts {
		return bad("%d hosts and %d removed ones are over the limits of %d and %d", len(s.Known), len(s.Removed), MaxHosts, MaxRemovedHosts)
	}
	addresses := make(map[Host]bool, len(s.Known))
	for i, k := range s.Known {
		if err := k.check(); err != nil {
			return bad("host %d: %s", i, err)
		}
		switch {
		case i > 0 && s.Known[i-1].Alias >= k.Alias:
			return bad("host %s is out of order", k.Alias)
		case addresses[k.Address]:
			return bad("%s is there twice", k.Address)
		case k.Since == 0 || k.Since > s.Revision:
			return bad("host %s was added in revision %d of %d", k.Alias, k.Since, s.Revision)
		case !k.Added.Equal(k.Added.Truncate(time.Second)) || k.Added.Location() != time.UTC:
			return bad("host %s was added at %s, which is no whole second in UTC", k.Alias, k.Added)
		}
		addresses[k.Address] = true
	}
	return s.checkRemoved(bad)
}

func (s Hosts) checkRemoved(bad func(string, ...any) error) error {
	seen := make(map[string]bool, len(s.Removed))
	for i, r := range s.Removed {
		if err := (KnownHost{Alias: r.Alias, Address: r.Address}).check(); err != nil {
			return bad("removed host %d: %s", i, err)
		}
		switch {
		case seen[r.Alias]:
			return bad("removed host %s is there twice", r.Alias)
		case r.Revision < 2 || r.Revision > s.Revision || i > 0 && s.Removed[i-1].Revision >= r.Revision:
			return bad("host %s was removed in revision %d of %d", r.Alias, r.Revision, s.Revision)
		}
		if k, ok := s.Find(r.Alias); ok && k.Since < r.Revision {
			return bad("host %s was removed in revision %d and is there since %d", r.Alias, r.Revision, k.Since)
		}
		seen[r.Alias] = true
	}
	return nil
}

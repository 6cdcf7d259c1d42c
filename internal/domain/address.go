package domain

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// MaxAddressBytes is the longest address of a session.
	MaxAddressBytes = 512
	// MaxHostNameBytes is the longest name of a host (RFC 1035 section 2.3.4), MaxUserBytes that of
	// a user there.
	MaxHostNameBytes = 253
	MaxUserBytes     = 64
)

// AddressRule is the sentence shown when an address is refused.
const AddressRule = "NAME is a session here; elsewhere HOST:NAME, USER@HOST:NAME, [IPV6]:NAME or ssh://USER@HOST:PORT/NAME; " +
	"without NAME the one used last"

// Address says where a session is. The zero value is the session used last on this machine.
type Address struct {
	Host Host
	Name string // of the session, or its id; empty: the one used last
}

// Host is a machine as a person names it: for ssh, or an alias that vev knows. The zero value is
// this machine.
type Host struct {
	User string // empty: ssh decides
	Name string // a name, an alias, or an IP address without brackets
	Port int    // 0: ssh decides
}

// Local reports whether h is this machine.
func (h Host) Local() bool { return h == Host{} }

// String is the one spelling of h, which ParseHost reads: "" for this machine, HOST, USER@HOST,
// or ssh://USER@HOST:PORT where there is a port.
func (h Host) String() string {
	if h.Local() {
		return ""
	}
	s := h.Name
	if strings.Contains(s, ":") {
		s = "[" + s + "]"
	}
	if h.User != "" {
		s = h.User + "@" + s
	}
	if h.Port != 0 {
		s = sshScheme + s + ":" + strconv.Itoa(h.Port)
	}
	return s
}

// String is an address that ParseAddress reads as a.
func (a Address) String() string {
	switch {
	case a.Host.Local():
		return a.Name
	case a.Host.Port != 0:
		return a.Host.String() + "/" + a.Name
	}
	return a.Host.String() + ":" + a.Name
}

const sshScheme = "ssh://"

// ParseAddress reads the address of a session. The error is a Usage fault; where there are two
// readings it shows both.
func ParseAddress(s string) (Address, error) {
	a, err := parseAddress(s)
	if err == nil && a.Name != "" {
		err = CheckName(a.Name)
	}
	if err != nil {
		return Address{}, err
	}
	return a, nil
}

func parseAddress(s string) (a Address, err error) {
	switch {
	case len(s) > MaxAddressBytes:
		return a, fault.New(fault.Usage, "address of %d bytes is too long, %d may be", len(s), MaxAddressBytes).WithHint("%s", AddressRule)
	case strings.HasPrefix(s, sshScheme):
		host, name, _ := strings.Cut(s[len(sshScheme):], "/")
		a.Name = name
		a.Host, err = parseAuthority(s, host)
		return a, err
	case strings.Contains(s, "://"):
		return a, badAddress(s, "only ssh:// is known")
	case !strings.ContainsAny(s, ":@"):
		a.Name = s
		return a, nil
	}
	user, rest, at := strings.Cut(s, "@")
	if !at {
		user, rest = "", s
	} else if user == "" {
		return a, badAddress(s, "the user before @ is missing")
	}
	host, name, err := splitHost(s, rest)
	if err != nil {
		return a, err
	}
	a.Name = name
	a.Host = Host{User: user, Name: host}
	return a, a.Host.check(s)
}

// splitHost takes HOST or HOST:NAME apart, with an IPv6 address in brackets.
func splitHost(s, rest string) (host, name string, err error) {
	if strings.HasPrefix(rest, "[") {
		host, name, ok := strings.Cut(rest[1:], "]")
		if !ok || name != "" && name[0] != ':' {
			return "", "", badAddress(s, "brackets hold an IPv6 address, and : and a name may follow")
		}
		if _, err := netip.ParseAddr(host); err != nil || !strings.Contains(host, ":") {
			return "", "", badAddress(s, "what is in brackets is no IPv6 address")
		}
		return host, strings.TrimPrefix(name, ":"), nil
	}
	if strings.Count(rest, ":") > 1 {
		return "", "", ambiguous(s, rest)
	}
	host, name, _ = strings.Cut(rest, ":")
	return host, name, nil
}

// ambiguous says how to write what has more colons than one.
func ambiguous(s, rest string) error {
	before := strings.TrimSuffix(s, rest)
	if _, err := netip.ParseAddr(rest); err == nil {
		i := strings.LastIndex(rest, ":")
		if _, err := netip.ParseAddr(rest[:i]); err != nil {
			return badAddress(s, "an IPv6 address stands in brackets: "+before+"["+rest+"]:NAME")
		}
		return fault.New(fault.Usage, "address %q can be read in two ways", fault.Clean(s)).
			WithHint("the host is %s[%s]: or it is %s[%s]:%s", before, rest, before, rest[:i], rest[i+1:])
	}
	parts := strings.SplitN(rest, ":", 3)
	if port, err := strconv.ParseUint(parts[1], 10, 16); err == nil && port > 0 {
		return fault.New(fault.Usage, "address %q can be read in two ways", fault.Clean(s)).
			WithHint("with a port it is %s%s%s:%s/%s; [%s] would be an IPv6 address", sshScheme, before, parts[0], parts[1], parts[2], rest)
	}
	return badAddress(s, "it has more colons than one")
}

// ParseHost reads a host: HOST, HOST:, USER@HOST, [IPV6], ssh://USER@HOST:PORT. The error is a Usage
// fault.
func ParseHost(s string) (Host, error) {
	if s != "" && (!strings.Contains(s, ":") || strings.HasSuffix(s, "]")) {
		s += ":"
	}
	a, err := parseAddress(s)
	switch {
	case err != nil:
		return Host{}, err
	case a.Host.Local():
		return Host{}, fault.New(fault.Usage, "no host is named").WithHint("HOST, USER@HOST, [IPV6] or ssh://USER@HOST:PORT")
	case a.Name != "":
		return Host{}, fault.New(fault.Usage, "%q names a session, a host is wanted", fault.Clean(s)).WithHint("leave %s out", fault.Clean(a.Name))
	}
	return a.Host, nil
}

// parseAuthority reads what stands between ssh:// and the path.
func parseAuthority(s, text string) (h Host, err error) {
	if user, rest, ok := strings.Cut(text, "@"); ok {
		if user == "" {
			return h, badAddress(s, "the user before @ is missing")
		}
		h.User, text = user, rest
	}
	host, port, err := splitHost(s, text)
	if err != nil {
		return h, err
	}
	h.Name = host
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return h, badAddress(s, "the port is a number from 1 to 65535")
		}
		h.Port = int(n)
	}
	return h, h.check(s)
}

// check refuses what a program that is started with h could take for something else.
func (h Host) check(s string) error {
	zone := ""
	if strings.Contains(h.Name, ":") {
		_, zone, _ = strings.Cut(h.Name, "%")
	}
	switch {
	case h.Name == "":
		return badAddress(s, "the host is missing")
	case len(h.Name) > MaxHostNameBytes || len(h.User) > MaxUserBytes:
		return badAddress(s, "the host or the user is too long")
	case h.Name[0] == '-' || h.User != "" && h.User[0] == '-':
		return badAddress(s, "neither host nor user begins with -")
	case !made(zone, "._-"):
		return badAddress(s, "the zone behind % is made of A-Z a-z 0-9 . _ -")
	case !strings.Contains(h.Name, ":") && !made(h.Name, "._-"):
		return badAddress(s, "a host is made of A-Z a-z 0-9 . _ -")
	case !made(h.User, "._-+$"):
		return badAddress(s, "a user is made of A-Z a-z 0-9 . _ - + $")
	}
	return nil
}

// made reports whether s has only letters, digits and what is in others.
func made(s, others string) bool {
	for i := range len(s) {
		if !alnum(s[i]) && strings.IndexByte(others, s[i]) < 0 {
			return false
		}
	}
	return true
}

func badAddress(s, why string) error {
	return fault.New(fault.Usage, "bad address %q: %s", fault.Clean(s), why).WithHint("%s", AddressRule)
}

package domain

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
)

func TestParseAddress(t *testing.T) {
	for s, want := range map[string]Address{
		"":                        {},
		"work":                    {Name: "work"},
		"box:":                    {Host: Host{Name: "box"}},
		"box:1":                   {Host: Host{Name: "box"}, Name: "1"},
		"box.example.com:work":    {Host: Host{Name: "box.example.com"}, Name: "work"},
		"ann@box":                 {Host: Host{User: "ann", Name: "box"}},
		"ann@box:work":            {Host: Host{User: "ann", Name: "box"}, Name: "work"},
		"10.0.0.1:":               {Host: Host{Name: "10.0.0.1"}},
		"[::1]:":                  {Host: Host{Name: "::1"}},
		"[2001:db8::1]:work":      {Host: Host{Name: "2001:db8::1"}, Name: "work"},
		"ann@[fe80::1%eth0]:w":    {Host: Host{User: "ann", Name: "fe80::1%eth0"}, Name: "w"},
		"ssh://box":               {Host: Host{Name: "box"}},
		"ssh://ann@box:2222/work": {Host: Host{User: "ann", Name: "box", Port: 2222}, Name: "work"},
		"ssh://[::1]:22/":         {Host: Host{Name: "::1", Port: 22}},
	} {
		got, err := ParseAddress(s)
		require.NoError(t, err, s)
		require.Equal(t, want, got, s)
	}
}

func TestBadAddresses(t *testing.T) {
	for s, want := range map[string]string{
		":work":                        "the host is missing",
		"@box:work":                    "the user before @ is missing",
		"ann@:work":                    "the host is missing",
		"-oProxyCommand=x:work":        "neither host nor user begins with -",
		"2001:db8::1":                  "in brackets: [2001:db8::1]:NAME",
		"-l@box:":                      "neither host nor user begins with -",
		"ssh://-oX/work":               "neither host nor user begins with -",
		"a b:work":                     "a host is made of",
		"box$(x):work":                 "a host is made of",
		"a\nb@box:":                    "a user is made of",
		"box:../x":                     "bad session name",
		"box:-x":                       "bad session name",
		"[::1":                         "brackets hold an IPv6 address",
		"[::1]work":                    "brackets hold an IPv6 address",
		"[box]:work":                   "no IPv6 address",
		"[10.0.0.1]:work":              "no IPv6 address",
		"http://box/":                  "only ssh:// is known",
		"ssh://box:0/":                 "the port is a number",
		"ssh://box:65536/":             "the port is a number",
		"ssh://box:x/":                 "the port is a number",
		"ssh:///work":                  "the host is missing",
		"a:b:c":                        "more colons than one",
		"[fe80::1%e;rm]:w":             "the zone behind %",
		strings.Repeat("x", 513):       "address of 513 bytes is too long",
		strings.Repeat("x", 254) + ":": "too long",
	} {
		_, err := ParseAddress(s)
		require.ErrorContains(t, err, want, s)
		require.Equal(t, fault.Usage, fault.KindOf(err), s)
	}
}

// What has two readings is refused, and both are shown.
func TestAmbiguousAddresses(t *testing.T) {
	hint := func(s string) string {
		_, err := ParseAddress(s)
		require.Equal(t, fault.Usage, fault.KindOf(err))
		require.Contains(t, err.Error(), "can be read in two ways")
		return err.(*fault.Error).Hint
	}
	require.Equal(t, "the host is [2001:db8::1:2]: or it is [2001:db8::1]:2", hint("2001:db8::1:2"))
	require.Equal(t, "with a port it is ssh://ann@box:22/work; [box:22:work] would be an IPv6 address", hint("ann@box:22:work"))
}

func TestParseHost(t *testing.T) {
	for s, want := range map[string]Host{
		"box": {Name: "box"}, "box:": {Name: "box"}, "ann@box": {User: "ann", Name: "box"}, "[::1]": {Name: "::1"},
		"ssh://ann@box:2222": {User: "ann", Name: "box", Port: 2222},
	} {
		got, err := ParseHost(s)
		require.NoError(t, err, s)
		require.Equal(t, want, got, s)
	}
	for s, want := range map[string]string{"": "no host is named", "box:work": "names a session", "ssh://box/work": "names a session"} {
		_, err := ParseHost(s)
		require.ErrorContains(t, err, want, s)
	}
}

// What an address or a host says of itself is read as itself.
func TestAddressesAreWrittenAsTheyAreRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Address{Name: rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,10}`).Draw(t, "name")}
		if rapid.Bool().Draw(t, "remote") {
			a.Host.Name = rapid.OneOf(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,20}`), rapid.Just("::1"), rapid.Just("fe80::1%en0")).Draw(t, "host")
			a.Host.User = rapid.StringMatching(`([A-Za-z0-9_][A-Za-z0-9._-]{0,8})?`).Draw(t, "user")
			a.Host.Port = rapid.SampledFrom([]int{0, 1, 22, 65535}).Draw(t, "port")
			h, err := ParseHost(a.Host.String())
			require.NoError(t, err)
			require.Equal(t, a.Host, h)
		}
		got, err := ParseAddress(a.String())
		require.NoError(t, err, a.String())
		require.Equal(t, a, got)
	})
}

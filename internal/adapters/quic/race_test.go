package quic

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// given are the addresses that are tried, in their order.
func given(t *testing.T, name string, known ...netip.Addr) (found []netip.Addr) {
	t.Helper()
	to := make(chan netip.Addr, maxAddresses)
	addresses(t.Context(), name, known, to)
	for addr := range to {
		found = append(found, addr)
	}
	return found
}

func TestAddresses(t *testing.T) {
	one, six := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	require.Equal(t, []netip.Addr{one}, given(t, "192.0.2.1"))
	require.Equal(t, []netip.Addr{six, one}, given(t, "192.0.2.1", six, one), "those that answered go first, each once")
	require.Equal(t, []netip.Addr{one}, given(t, "::ffff:192.0.2.1"))
	require.Contains(t, given(t, "localhost", one), netip.MustParseAddr("127.0.0.1"))
	require.Empty(t, given(t, "no..name"))
	var many []netip.Addr
	for i := range maxAddresses + 3 {
		many = append(many, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}))
	}
	require.Equal(t, many[:maxAddresses], given(t, "192.0.2.200", many...))
}

// All addresses are tried at once, over IPv4 and IPv6: those that do not answer delay nothing. The name is looked up for each
// link anew.
func TestAddressesAreRaced(t *testing.T) {
	m := newMachine(t, Ports{})
	names := []string{"localhost", "127.0.0.1"}
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		require.NoError(t, l.Close())
		names = append(names, "::1")
	}
	for _, name := range names {
		d := newDialer(&ssh{to: m})
		d.Locate = func(context.Context, domain.Host) (ports.Location, error) { return ports.Location{Name: name}, nil }
		l := dial(t, d)
		echoes(t, open(t, l), name)
		l.peer.mu.Lock()
		answered := l.peer.addrs[0]
		l.peer.addrs = []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}
		l.peer.mu.Unlock()
		start := time.Now()
		again := dial(t, d)
		require.Less(t, time.Since(start), attemptTimeout)
		echoes(t, open(t, again), fmt.Sprint("another link to ", name))
		require.True(t, again.peer.answered()[0].IsLoopback(), "%v", answered)
	}
	d := newDialer(&ssh{to: m})
	d.Locate = func(context.Context, domain.Host) (ports.Location, error) {
		return ports.Location{Name: "no..name"}, nil
	}
	_, err := d.DialLink(t.Context(), "far", nil)
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.ErrorContains(t, err, "no address of no..name is known")
}

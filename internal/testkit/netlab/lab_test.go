//go:build linux

package netlab

import (
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/vev-term/vev/internal/testkit/simnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newLab makes a lab with the same conditions in both directions.
func newLab(t *testing.T, c simnet.Conditions) *Lab {
	t.Helper()
	if os.Getuid() != 0 {
		if os.Getenv("VEV_TEST_STRICT") == "1" {
			t.Fatal("network namespaces take root, and VEV_TEST_STRICT=1 wants every test")
		}
		t.Skip("network namespaces take root")
	}
	l, err := New(1, c, c)
	require.NoError(t, err)
	t.Cleanup(l.Close)
	return l
}

// connect makes a TCP connection from near to far.
func connect(t *testing.T, l *Lab) (near, far net.Conn) {
	t.Helper()
	listener, err := l.Far.Listen(0)
	require.NoError(t, err)
	defer listener.Close()
	accepted := make(chan net.Conn, 1)
	go func() { c, _ := listener.Accept(); accepted <- c }()
	near, err = l.Near.Dial(t.Context(), net.Dialer{Timeout: 10 * time.Second}, listener.Addr().String())
	require.NoError(t, err)
	far = <-accepted
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

func roundTrip(t *testing.T, near, far net.Conn) time.Duration {
	t.Helper()
	start := time.Now()
	one := make([]byte, 1)
	for _, hop := range [][2]net.Conn{{near, far}, {far, near}} {
		_, err := hop[0].Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(hop[1], one)
		require.NoError(t, err)
	}
	return time.Since(start)
}

func TestDelayIsReal(t *testing.T) {
	l := newLab(t, simnet.Conditions{Delay: 25 * time.Millisecond})
	near, far := connect(t, l)
	best := time.Hour
	for range 5 {
		best = min(best, roundTrip(t, near, far))
	}
	require.InDelta(t, 50, float64(best)/1e6, 5, "milliseconds")
}

func TestUDPIsBlockedAlone(t *testing.T) {
	l := newLab(t, simnet.Conditions{})
	near, far := connect(t, l)
	var server net.PacketConn
	require.NoError(t, l.Far.Do(func() (err error) {
		server, err = net.ListenPacket("udp4", netip.AddrPortFrom(l.Far.Addr, 0).String())
		return err
	}))
	defer server.Close()
	var client net.Conn
	require.NoError(t, l.Near.Do(func() (err error) {
		client, err = net.Dial("udp4", server.LocalAddr().String())
		return err
	}))
	defer client.Close()
	passes := func() bool {
		_, err := client.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, server.SetReadDeadline(time.Now().Add(200*time.Millisecond)))
		_, _, err = server.ReadFrom(make([]byte, 1))
		return err == nil
	}
	require.True(t, passes())
	l.BlockUDP(true)
	require.False(t, passes())
	roundTrip(t, near, far)
	l.BlockUDP(false)
	require.True(t, passes())
}

func TestRateIsReal(t *testing.T) {
	l := newLab(t, simnet.Conditions{Delay: 5 * time.Millisecond, Rate: 8_000_000, Queue: 60_000})
	near, far := connect(t, l)
	_, before := l.Counters()
	go func() {
		_, _ = far.Write(make([]byte, 2_000_000))
		far.Close()
	}()
	start := time.Now()
	n, err := io.Copy(io.Discard, near)
	require.NoError(t, err)
	require.EqualValues(t, 2_000_000, n)
	took := time.Since(start).Seconds()
	require.Greater(t, took, 1.95, "seconds: no faster than the rate")
	require.Less(t, took, 3.5)
	_, after := l.Counters()
	require.Greater(t, after.Bytes-before.Bytes, int64(2_000_000))
}

func TestLossIsReal(t *testing.T) {
	l := newLab(t, simnet.Conditions{Loss: 0.05})
	near, far := connect(t, l)
	go func() {
		_, _ = far.Write(make([]byte, 3_000_000))
		far.Close()
	}()
	n, err := io.Copy(io.Discard, near)
	require.NoError(t, err)
	require.EqualValues(t, 3_000_000, n)
	_, down := l.Counters()
	require.InDelta(t, 0.05, float64(down.Dropped)/float64(down.Packets), 0.04)
}

// A connection survives a blackhole; a new one is through as soon as there is a link again.
func TestBlackholeIsReal(t *testing.T) {
	c := simnet.Conditions{Delay: 5 * time.Millisecond}
	l := newLab(t, c)
	near, far := connect(t, l)
	down := c
	down.Down = true
	l.Set(down, down)
	_, err := near.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, far.SetReadDeadline(time.Now().Add(300*time.Millisecond)))
	_, err = far.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	l.Set(c, c)
	fresh, freshFar := connect(t, l)
	roundTrip(t, fresh, freshFar)
	require.NoError(t, far.SetReadDeadline(time.Time{}))
	_, err = io.ReadFull(far, make([]byte, 1))
	require.NoError(t, err)
}

// Two labs at once have the same addresses and do not meet.
func TestLabsAreSeparate(t *testing.T) {
	one, two := newLab(t, simnet.Conditions{}), newLab(t, simnet.Conditions{})
	listener, err := one.Far.Listen(7777)
	require.NoError(t, err)
	defer listener.Close()
	addr := netip.AddrPortFrom(two.Far.Addr, 7777).String()
	_, err = two.Near.Dial(t.Context(), net.Dialer{Timeout: 5 * time.Second}, addr)
	require.Error(t, err)
}

// A host that has another address, or had no link for a while, is reached as before by who comes anew.
func TestAHostMoves(t *testing.T) {
	l := newLab(t, simnet.Conditions{})
	connect(t, l)
	require.NoError(t, l.Near.Readdress(netip.AddrFrom4([4]byte{10, 77, 0, 9})))
	near, far := connect(t, l)
	require.Contains(t, far.RemoteAddr().String(), "10.77.0.9:")
	roundTrip(t, near, far)
	require.NoError(t, l.Near.SetUp(false))
	_, err := l.Near.Dial(t.Context(), net.Dialer{Timeout: time.Second}, "10.77.0.2:1")
	require.ErrorContains(t, err, "unreachable")
	require.NoError(t, l.Near.SetUp(true))
	roundTrip(t, near, far)
	connect(t, l)
}

package quic

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	quicgo "github.com/quic-go/quic-go"
	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// guest is who comes to a proxy, with a key that may not be known.
type guest struct {
	t   *testing.T
	m   *machine
	id  *identity
	way *way
}

func newGuest(t *testing.T, m *machine, from ...byte) *guest {
	t.Helper()
	id, err := newIdentity()
	require.NoError(t, err)
	g := &guest{t: t, m: m, id: id}
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IP(append([]byte{127, 0, 0}, append(from, 1)[0]))})
	require.NoError(t, err)
	g.way = &way{&systemSocket{UDPConn: conn}, &quicgo.Transport{Conn: conn}}
	t.Cleanup(g.way.close)
	return g
}

func (g *guest) knock(ctx context.Context) (*quicgo.Conn, error) {
	to := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(portOf(g.m.proxy.socket))}
	conn, err := g.way.transport.Dial(ctx, to, g.id.clientTLS(func(tls.ConnectionState) error { return nil }), clientConfig())
	if err == nil {
		g.t.Cleanup(func() { _ = conn.CloseWithError(codeDone, "") })
	}
	return conn, err
}

// says comes with some bytes on the control stream, and returns how the connection ended; nil: it goes on after a while.
func (g *guest) says(record []byte) error {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 10*time.Second)
	defer cancel()
	conn, err := g.knock(ctx)
	if err != nil {
		return err
	}
	control, err := conn.OpenStream()
	if err != nil {
		return err // it was closed already
	}
	_, _ = control.Write(record)
	select {
	case <-conn.Context().Done():
		return context.Cause(conn.Context())
	case <-time.After(2 * time.Second): // a refusal may take a while on a busy machine
		return nil
	}
}

func (g *guest) record(i *invitation) []byte {
	return (&authRecord{nonce: i.nonce, token: i.token, public: g.id.public}).append(nil)
}

func (m *machine) invites() *invitation {
	m.t.Helper()
	line, err := m.proxy.Invite()
	require.NoError(m.t, err)
	i, err := parseReady(line)
	require.NoError(m.t, err)
	return i
}

func requireEnd(t *testing.T, code quicgo.ApplicationErrorCode, err error) {
	t.Helper()
	got, ok := endOf(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, got)
}

// A key that is not known gets no further than the handshake, unless somebody is expected.
func TestNobodyIsLetInUnasked(t *testing.T) {
	m := newMachine(t, Ports{})
	err := newGuest(t, m).says(nil)
	var refused *quicgo.TransportError
	require.ErrorAs(t, err, &refused)
	require.True(t, refused.ErrorCode.IsCryptoError())
}

// Whatever is wrong with a token, its bearer is refused, and the right one works afterwards, once.
func TestTokens(t *testing.T) {
	m := newMachine(t, Ports{})
	i := m.invites()
	right := newGuest(t, m)

	wrong := *i
	wrong.token[tokenBytes-1] ^= 1
	requireEnd(t, codeRefused, newGuest(t, m).says(newGuest(t, m).record(&wrong)))
	g := newGuest(t, m)
	requireEnd(t, codeRefused, g.says(g.record(&wrong)))
	wrong = *i
	wrong.nonce[0] ^= 1
	requireEnd(t, codeRefused, g.says(g.record(&wrong)))
	requireEnd(t, codeRefused, g.says(right.record(i)))                                                     // another one's key
	requireEnd(t, codeBroken, g.says([]byte{0, 0, 0, 0}))                                                   // empty
	requireEnd(t, codeBroken, g.says([]byte{0, 0, 2, 0}))                                                   // too long, by 4
	requireEnd(t, codeBroken, g.says([]byte("\x00\x00\x00\x05hello")))                                      // no record
	requireEnd(t, codeBroken, g.says(append([]byte{0, 0, 0, byte(authFixed)}, make([]byte, authFixed)...))) // no key
	expired := m.invites()
	m.proxy.tokens.mu.Lock()
	late := m.proxy.tokens.valid[1]
	m.proxy.tokens.mu.Unlock()
	m.proxy.tokens.expire(late)
	require.Equal(t, [tokenBytes]byte{}, late.secret, "it is erased")
	requireEnd(t, codeRefused, g.says(g.record(expired)))

	require.NoError(t, right.says(right.record(i)))
	require.Empty(t, m.proxy.tokens.valid)
	other := newGuest(t, m, 2)
	err := other.says(other.record(i)) // the same again, from another address
	require.Error(t, err)
	_, refused := endOf(err)
	require.False(t, refused, "it does not get beyond the handshake: nobody is expected")
	m.invites() // now somebody is
	requireEnd(t, codeRefused, other.says(other.record(i)))
}

// Of many who come at once with the same token one is let in.
func TestATokenIsForOne(t *testing.T) {
	m := newMachine(t, Ports{})
	for range 5 {
		i := m.invites()
		results := make(chan error, 5)
		var all sync.WaitGroup
		for range 5 {
			g := newGuest(t, m)
			all.Go(func() { results <- g.says(g.record(i)) })
		}
		all.Wait()
		in := 0
		for range 5 {
			if err := <-results; err == nil {
				in++
			}
		}
		require.Equal(t, 1, in)
	}
	require.Empty(t, m.proxy.leases.unknown)
}

// Who says nothing, or too little, is closed in time; who comes beside that is let in. There are never more than four.
func TestSlowGuests(t *testing.T) {
	m := newMachine(t, Ports{})
	i := m.invites()
	var conns []*quicgo.Conn
	for n := range maxUnknown + 2 {
		conn, err := newGuest(t, m).knock(t.Context())
		require.NoError(t, err)
		conns = append(conns, conn)
		control, err := conn.OpenStream()
		require.NoError(t, err)
		_, err = control.Write([]byte{0, 0, 0}[:1+n%3])
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			m.proxy.leases.mu.Lock()
			defer m.proxy.leases.mu.Unlock()
			return len(m.proxy.leases.unknown) == min(n+1, maxUnknown)
		}, 5*time.Second, time.Millisecond)
	}
	for _, conn := range conns[:2] {
		<-conn.Context().Done()
		requireEnd(t, codeLimit, context.Cause(conn.Context()))
	}
	right := newGuest(t, m)
	require.NoError(t, right.says(right.record(i)))
	for _, conn := range conns[2:] {
		<-conn.Context().Done()
	}
}

// Before it is known a connection has one stream and little memory.
func TestWhatAGuestMayHold(t *testing.T) {
	m := newMachine(t, Ports{})
	m.invites()
	conn, err := newGuest(t, m).knock(t.Context())
	require.NoError(t, err)
	control, err := conn.OpenStream()
	require.NoError(t, err)
	require.NoError(t, control.SetWriteDeadline(time.Now().Add(300*time.Millisecond)))
	head := []byte{0, 0, 1, 0xfc}
	_, err = control.Write(head)
	require.NoError(t, err)
	sent := 0
	for err == nil && sent < 10<<20 {
		var n int
		n, err = control.Write(make([]byte, 100))
		sent += n
	}
	require.LessOrEqual(t, sent, unknownWindow+2000)

	conn, err = newGuest(t, m).knock(t.Context())
	require.NoError(t, err)
	for range 2 {
		s, err := conn.OpenStream()
		require.NoError(t, err)
		_, err = s.Write([]byte{0})
		require.NoError(t, err)
	}
	<-conn.Context().Done()
	requireEnd(t, codeBroken, context.Cause(conn.Context()))
}

// One who stands between and shows another certificate is not told the token.
func TestASwappedCertificate(t *testing.T) {
	m, other := newMachine(t, Ports{}), newMachine(t, Ports{})
	d := newDialer(&ssh{to: m, port: portOf(other.proxy.socket)})
	other.invites()
	_, err := d.DialLink(t.Context(), "far", nil)
	require.Equal(t, fault.Denied, fault.KindOf(err))
	require.ErrorContains(t, err, "not the proxy that ssh led to")
	require.True(t, m.proxy.tokens.outstanding(), "the token was not spent")
	require.False(t, d.Resumable("far"))
}

// What ssh says is the user's to know.
func TestWithoutSSHThereIsNoFirstTime(t *testing.T) {
	m := newMachine(t, Ports{})
	no := fault.New(fault.Denied, "ssh says no")
	_, err := newDialer(&ssh{to: m, error: no}).DialLink(t.Context(), "far", nil)
	require.ErrorIs(t, err, no)
	_, err = newDialer(&ssh{to: m}).DialLink(t.Context(), "-oProxyCommand=x", nil)
	require.Equal(t, fault.Usage, fault.KindOf(err))
}

// A stream that begins with something else is refused; the others go on.
func TestAStreamBeginsWithItsFrame(t *testing.T) {
	m := newMachine(t, Ports{})
	l := dial(t, newDialer(&ssh{to: m}))
	s := open(t, l)
	for _, head := range [][]byte{{0, 0, 0, 0}, {0xff, 0, 0, 0}, {0, 0, 0, 1, 7}, mustHead(appendOpen(400, "", 0)), mustHead(appendOpened(8))} {
		qs, err := l.conn.OpenStream()
		require.NoError(t, err)
		_, err = qs.Write(head)
		require.NoError(t, err)
		_, err = qs.Read(make([]byte, 1))
		var reset *quicgo.StreamError
		require.True(t, errors.As(err, &reset), "%v", err)
		require.EqualValues(t, fault.Violation+1, reset.ErrorCode)
	}
	echoes(t, s, "untouched")
}

func mustHead(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// The proxy goes when nobody can come back to anything.
func TestTheProxyEnds(t *testing.T) {
	m := newMachine(t, Ports{})
	now := time.Now()
	require.False(t, m.proxy.needed(now), "nobody is known")
	i := m.invites()
	require.True(t, m.proxy.needed(now), "somebody is expected")
	g := newGuest(t, m)
	require.NoError(t, g.says(g.record(i)))
	require.True(t, m.proxy.needed(now), "a key and a daemon")
	require.True(t, m.proxy.needed(now.Add(leaseTime)), "it is still connected")
	m.daemon.Store(false)
	require.False(t, m.proxy.needed(now), "there is no daemon")
	require.NoError(t, m.proxy.Run(t.Context()), "so it ends")
	m.daemon.Store(true)
	g.way.close()
	m.proxy.sendAway(m.proxy.leases.unknownOrAny())
	require.Eventually(t, func() bool { return len(m.addresses()) == 0 }, 5*time.Second, time.Millisecond)
	require.True(t, m.proxy.needed(time.Now().Add(leaseTime-time.Minute)))
	require.False(t, m.proxy.needed(time.Now().Add(leaseTime+time.Minute)), "the lease has run out")
}

func (s *leases) unknownOrAny() *quicgo.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.known {
		for _, m := range l.conns {
			return m.conn
		}
	}
	return nil
}

// The oldest lease without a connection makes room for another one.
func TestLeasesAreBounded(t *testing.T) {
	s, now := newLeases(), time.Now()
	for i := range maxLeases {
		require.NoError(t, s.grant(fingerprint{byte(i)}, now.Add(time.Duration(i)*time.Second)))
	}
	m, _ := s.join(fingerprint{0}, new(quicgo.Conn))
	require.NoError(t, s.grant(fingerprint{0xff}, now))
	require.False(t, s.knows(fingerprint{1}, now), "the oldest that is not connected")
	require.True(t, s.knows(fingerprint{0}, now))
	for key := range s.known {
		s.join(key, nil)
	}
	require.Equal(t, fault.Limit, fault.KindOf(s.grant(fingerprint{0xfe}, now)))
	for i := range maxPerLease - 1 { // beside the two that it has
		_, excess := s.join(fingerprint{0}, new(quicgo.Conn))
		require.Equal(t, i == maxPerLease-2, excess != nil, "%d", i)
	}
	s.leave(m, now)
	for range s.known[fingerprint{0}].conns {
		s.leave(s.known[fingerprint{0}].conns[0], now)
	}
	require.True(t, s.knows(fingerprint{0}, now.Add(leaseTime-1)))
	require.False(t, s.knows(fingerprint{0}, now.Add(leaseTime)))
	_, excess := s.join(fingerprint{0}, nil)
	require.Nil(t, excess)
}

// Tokens that nobody uses are bounded too.
func TestTokensAreBounded(t *testing.T) {
	var s tokens
	first, secret := s.issue()
	for range maxTokens {
		s.issue()
	}
	require.Len(t, s.valid, maxTokens)
	require.Error(t, s.spend(first, secret))
	s.close()
	require.False(t, s.outstanding())
}

func TestPortsAreARange(t *testing.T) {
	busy, err := net.ListenUDP("udp", nil)
	require.NoError(t, err)
	defer busy.Close()
	port := uint16(busy.LocalAddr().(*net.UDPAddr).Port)
	_, err = listen(Ports{port, port})
	require.Equal(t, fault.Limit, fault.KindOf(err))
	s, err := listen(Ports{port, min(port+50, 65535)})
	require.NoError(t, err)
	defer s.Close()
	require.Greater(t, portOf(s), port)
}

func TestTheReadinessLine(t *testing.T) {
	i := &invitation{port: 4433, expires: tokenLifetime}
	for n := range i.token {
		i.pin[n], i.token[n] = byte(n), byte(n+1)
	}
	line, err := i.line()
	require.NoError(t, err)
	require.Equal(t, `{"schema":1,"port":4433,"certificate":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",`+
		`"token":"AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=","nonce":"AAAAAAAAAAAAAAAAAAAAAA==","expires_ms":15000}`+"\n", string(line))
	got, err := parseReady(line)
	require.NoError(t, err)
	require.Equal(t, i, got)
	for _, bad := range []string{
		"", "{}", `{"schema":2}`, `{"schema":1,"port":0}`, `{"schema":1,"port":70000}`, `{"schema":1,"port":1,"certificate":"AA=="}`,
		string(line[:len(line)-5]), `[` + string(line),
	} {
		_, err := parseReady([]byte(bad))
		require.Equal(t, fault.Violation, fault.KindOf(err), bad)
	}
	_, err = parseReady(make([]byte, MaxReadyBytes+1))
	require.Equal(t, fault.Violation, fault.KindOf(err))
}

func TestHeads(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		_, _ = w.Write(append(mustHead(appendOpen(4, "", protocol.ExistingOnly)), "rest"...))
		_, _ = w.Write(append(mustHead(appendOpened(4)), "rest"...))
		_, _ = w.Write(append(mustHead(appendRefused(4, protocol.Failure{Kind: fault.NotFound, Text: "none"})), "rest"...))
	}()
	rest := make([]byte, 4)
	open, err := readOpen(r, 4)
	require.NoError(t, err)
	require.Equal(t, protocol.ExistingOnly, open.Start)
	_, err = io.ReadFull(r, rest)
	require.NoError(t, err)
	require.NoError(t, readAnswer(r, 4))
	_, err = io.ReadFull(r, rest)
	require.NoError(t, err)
	require.Equal(t, fault.NotFound, fault.KindOf(readAnswer(r, 4)))
	_, err = io.ReadFull(r, rest)
	require.NoError(t, err)
	require.Equal(t, "rest", string(rest))
}

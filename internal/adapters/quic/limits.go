package quic

import (
	"time"

	quicgo "github.com/quic-go/quic-go"

	"github.com/vev-term/vev/internal/protocol"
)

const (
	// alpn names what is spoken, version 1 of how it is carried.
	alpn = "vev/1"

	// tokenLifetime is how long a token is good for, from the moment the proxy made it.
	tokenLifetime = 15 * time.Second
	// MaxReadyBytes bounds the readiness line, its end included.
	MaxReadyBytes = 4 << 10
	// maxAuthBytes bounds the record of a broker that comes for the first time, its length included.
	maxAuthBytes = 512
	// maxHeadBytes bounds what a stream begins with: a host's name, or a failure in words.
	maxHeadBytes = 4 << 10

	// maxTokens is how many tokens are good at once: the oldest is erased for another one.
	maxTokens = 8
	// maxUnknown is how many connections may be there whose key is not known: the oldest is closed for another one.
	maxUnknown = 4
	// maxHandshakes is how many handshakes may be under way: further ones are refused, and try again. From half of them on
	// an address has to prove first that it is the sender's.
	maxHandshakes = 16
	// authTimeout is how long one may take to say who it is, beside as much for its handshake.
	authTimeout = 3 * time.Second
	// headTimeout is how long a stream's beginning may take.
	headTimeout = protocol.HandshakeTimeout
	// unknownWindow is what a connection may have in flight to the proxy before it is known.
	unknownWindow = 64 << 10

	// leaseTime is how long a key is known after its last contact.
	leaseTime = 24 * time.Hour
	// maxLeases is how many keys are known: the one without a connection that was there the longest ago is forgotten for
	// another one.
	maxLeases = 64
	// maxPerLease is how many connections one key may have: the oldest is closed for another one.
	maxPerLease = 16

	// idleTimeout ends a connection that hears nothing, keepAlive keeps one alive that has nothing to say, and a router's
	// memory of it.
	idleTimeout = 30 * time.Second
	keepAlive   = 10 * time.Second

	// closeGrace is how long an end waits for the other side to have heard of it.
	closeGrace = 500 * time.Millisecond
)

// config is what both ends have in common. Packets begin at the size that every path carries.
func config() *quicgo.Config {
	return &quicgo.Config{
		Versions:                   []quicgo.Version{quicgo.Version1},
		HandshakeIdleTimeout:       authTimeout,
		MaxIdleTimeout:             idleTimeout,
		InitialPacketSize:          1200,
		InitialStreamReceiveWindow: 512 << 10,
		MaxStreamReceiveWindow:     protocol.StreamWindowBytes,
		MaxConnectionReceiveWindow: protocol.MaxParkedBytes,
		MaxIncomingUniStreams:      -1,
		EnableDatagrams:            true, // they say nothing, but where they come from
	}
}

func clientConfig() *quicgo.Config {
	c := config()
	c.KeepAlivePeriod = keepAlive
	// The proxy alone tries larger packets: they are for bulk, which comes from its side, and the tries of one side take as much as
	// two seconds of a busy screen, after each change of the way anew.
	c.DisablePathMTUDiscovery = true
	c.InitialConnectionReceiveWindow = 1 << 20
	c.MaxIncomingStreams = -1
	return c
}

// Codes of an end, of a connection or a stream. A stream's are the kinds of failure, moved by one: 0 is an orderly end.
const (
	codeDone     = 0 // nobody needs it any more
	codeRefused  = 1 // who came is not let in
	codeReplaced = 2 // a newer connection of the same broker has taken its place
	codeLimit    = 3 // there were too many, or it took too long
	codeEnding   = 4 // the proxy ends, and knows nobody any more
	codeBroken   = 5 // the protocol was broken
)

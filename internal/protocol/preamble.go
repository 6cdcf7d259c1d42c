package protocol

import (
	"fmt"

	"github.com/vev-term/vev/internal/domain/fault"
)

// Preamble values of docs/protocol.md, Preamble.
const (
	Magic      uint32 = 0x56455631 // "VEV1"
	Epoch      uint32 = 1
	MinVersion uint32 = 1
	MaxVersion uint32 = 1
)

// Role says which end of which conversation speaks.
type Role uint32

const (
	SessionClient Role = 1
	SessionServer Role = 2
	BrokerClient  Role = 3
	BrokerServer  Role = 4
)

// Peer is the role that must be at the other end.
func (r Role) Peer() Role {
	switch r {
	case SessionClient:
		return SessionServer
	case SessionServer:
		return SessionClient
	case BrokerClient:
		return BrokerServer
	case BrokerServer:
		return BrokerClient
	}
	return 0
}

func (r Role) String() string {
	switch r {
	case SessionClient:
		return "session client"
	case SessionServer:
		return "session server"
	case BrokerClient:
		return "broker client"
	case BrokerServer:
		return "broker server"
	}
	return fmt.Sprintf("role %d", uint32(r))
}

// Features a connection may have; an unknown bit is harmless.
const (
	FeatureNone uint64 = 0
	// FeatureDirect: the broker conversation runs on a Unix socket, and a client can be handed
	// the connection to a daemon as a descriptor.
	FeatureDirect uint64 = 1 << 0
	// Bit 1 stood for packed envelopes of another compression, and is not given again.

	// FeatureShortRefs: in a broker conversation the references of stream data and of window
	// updates have no scope.
	FeatureShortRefs uint64 = 1 << 2
	// FeaturePrompts: the broker's client has a person who can answer questions of ssh.
	FeaturePrompts uint64 = 1 << 3
	// FeatureSqueezed: the session server may send squeezed envelopes, and leaves the base out of
	// Outputs. Offered like FeaturePacked.
	FeatureSqueezed uint64 = 1 << 4
	// FeaturePings: a broker answers Ping.
	FeaturePings uint64 = 1 << 5
	// FeatureReports: the broker says how the links are that its client's streams go over.
	FeatureReports uint64 = 1 << 6
	// FeatureFirst: OpenStream may carry the first bytes of the stream.
	FeatureFirst uint64 = 1 << 7
	// FeatureAhead: Register may ask for the first stream. It implies FeatureFirst for that.
	FeatureAhead uint64 = 1 << 8
	// FeaturePacked: the session server may send packed envelopes. A client offers it on a link
	// that gains from it.
	FeaturePacked uint64 = 1 << 9
)

// Hello is what a client offers in its preamble.
type Hello struct {
	Magic, Epoch           uint32
	MinVersion, MaxVersion uint32
	Role                   Role
	MaxEnvelope, MaxChunk  uint32 // bytes
	Features               uint64
	Software               string // name and version, for messages only
}

// NewHello is our own offer in the given role.
func NewHello(role Role, software string) Hello {
	return Hello{
		Magic: Magic, Epoch: Epoch, MinVersion: MinVersion, MaxVersion: MaxVersion, Role: role,
		MaxEnvelope: MaxEnvelopeBytes, MaxChunk: MaxChunkBytes, Features: FeatureNone, Software: software,
	}
}

// Agreed is what both ends of a connection hold to.
type Agreed struct {
	Version               uint32
	MaxEnvelope, MaxChunk uint32
	Features              uint64
	Software              string // the peer's
}

// RejectCode says why a preamble was refused.
type RejectCode uint32

const (
	RejectMagic      RejectCode = 1
	RejectEpoch      RejectCode = 2
	RejectVersion    RejectCode = 3
	RejectRole       RejectCode = 4
	RejectDuplicate  RejectCode = 5
	RejectOutOfOrder RejectCode = 6
	RejectLimit      RejectCode = 7
)

// Rejection is a refused preamble, with the refusing side's versions.
type Rejection struct {
	Code                   RejectCode
	MinVersion, MaxVersion uint32
	Text                   string
	Software               string
}

// Negotiate is the server's decision about a client's offer. Exactly one result is not nil.
func Negotiate(ours, theirs Hello) (*Agreed, *Rejection) {
	reject := func(code RejectCode, format string, args ...any) (*Agreed, *Rejection) {
		return nil, &Rejection{
			Code: code, MinVersion: ours.MinVersion, MaxVersion: ours.MaxVersion,
			Text: fmt.Sprintf(format, args...), Software: ours.Software,
		}
	}
	switch {
	case theirs.Magic != ours.Magic:
		return reject(RejectMagic, "magic is %#x, must be %#x", theirs.Magic, ours.Magic)
	case theirs.Epoch != ours.Epoch:
		return reject(RejectEpoch, "epoch is %d, must be %d", theirs.Epoch, ours.Epoch)
	case theirs.Role != ours.Role.Peer():
		return reject(RejectRole, "%s called a %s", theirs.Role, ours.Role)
	case theirs.MinVersion > theirs.MaxVersion:
		return reject(RejectLimit, "version range %d to %d is empty", theirs.MinVersion, theirs.MaxVersion)
	case theirs.MaxVersion < ours.MinVersion || theirs.MinVersion > ours.MaxVersion:
		return reject(RejectVersion, "versions %d to %d and %d to %d do not meet",
			theirs.MinVersion, theirs.MaxVersion, ours.MinVersion, ours.MaxVersion)
	case theirs.MaxEnvelope < MinEnvelopeCeiling || theirs.MaxEnvelope > MaxEnvelopeBytes:
		return reject(RejectLimit, "envelope ceiling is %d, must be %d to %d", theirs.MaxEnvelope, MinEnvelopeCeiling, MaxEnvelopeBytes)
	case theirs.MaxChunk < MinChunkCeiling || theirs.MaxChunk > MaxChunkBytes:
		return reject(RejectLimit, "chunk ceiling is %d, must be %d to %d", theirs.MaxChunk, MinChunkCeiling, MaxChunkBytes)
	}
	return &Agreed{
		Version:     min(ours.MaxVersion, theirs.MaxVersion),
		MaxEnvelope: min(ours.MaxEnvelope, theirs.MaxEnvelope),
		MaxChunk:    min(ours.MaxChunk, theirs.MaxChunk),
		Features:    ours.Features & theirs.Features,
		Software:    theirs.Software,
	}, nil
}

// Fault is the rejection as the refused side shows it: both versions, and what to upgrade.
func (r *Rejection) Fault(ours Hello) *fault.Error {
	kind := fault.Violation
	if r.Code == RejectVersion || r.Code == RejectEpoch || r.Code == RejectMagic {
		kind = fault.Incompatible
	}
	who := fault.Clean(r.Software)
	if who == "" {
		who = "the other side"
	}
	err := fault.New(kind, "%s speaks versions %d to %d, this is %s with versions %d to %d: %s",
		who, r.MinVersion, r.MaxVersion, ours.Software, ours.MinVersion, ours.MaxVersion, fault.Clean(r.Text))
	err.Peer = true
	switch {
	case kind != fault.Incompatible:
	case r.MaxVersion < ours.MinVersion:
		return err.WithHint("the other side is older: end its sessions and restart it, or upgrade it")
	case r.MinVersion > ours.MaxVersion:
		return err.WithHint("this vev is older: upgrade it")
	default:
		return err.WithHint("the two do not come from one release: install the same vev on both sides")
	}
	return err
}

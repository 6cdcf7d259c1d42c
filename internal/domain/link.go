package domain

import (
	"strconv"
	"time"

	"github.com/vev-term/vev/internal/domain/fault"
)

// Transport is what carries a link to another machine. As a policy it says which one may; the zero value leaves the choice
// to what gets through, and as a fact says that nothing is connected.
type Transport uint32

const (
	TransportAuto Transport = 0 // ssh first, QUIC beside it and instead of it where UDP gets through
	TransportSSH  Transport = 1 // the standard input and output of the user's ssh
	TransportQUIC Transport = 2
)

func (t Transport) String() string {
	switch t {
	case TransportAuto:
		return "auto"
	case TransportSSH:
		return "ssh"
	case TransportQUIC:
		return "quic"
	}
	return "transport " + strconv.FormatUint(uint64(t), 10)
}

// Vitals are what a link knows of itself from what went over it.
type Vitals struct {
	Transport Transport
	RTT       time.Duration // round trip, lately; 0: not measured yet
	Heard     time.Time     // when something came last; set from the beginning
	Sent      uint64        // packets, where the transport knows
	Lost      uint64        // of them
}

// LinkState is what a person is told of the way to a host.
type LinkState uint32

const (
	LinkNone         LinkState = iota // there is none and nobody wants one
	LinkConnecting                    // the first one is being made
	LinkConnected                     // the other end answers in the time it usually does
	LinkSlow                          // it answers late, or an answer is late
	LinkSilent                        // nothing has come since the last contact, though an answer is due
	LinkReconnecting                  // the link has ended and another one is being made
	LinkGone                          // the last attempt failed and there is no other
	linkStateEnd
)

func (s LinkState) String() string {
	if s < linkStateEnd {
		return [...]string{"none", "connecting", "connected", "slow", "no contact", "reconnecting", "gone"}[s]
	}
	return "link state " + strconv.FormatUint(uint64(s), 10)
}

// HostLink is what is known of the way to a host.
type HostLink struct {
	State     LinkState
	Transport Transport     // in use
	Why       string        // in words, why that one and not another; empty: it is the first choice
	RTT       time.Duration // 0: not known
	Heard     time.Time     // the last contact; zero: there was none
	Failure   *fault.Error  // of the last attempt, where that failed
}

package protocol

import (
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

// ConnectionID is chosen by the broker, new for every connection.
type ConnectionID [16]byte

// OperationID names one mutation or request of a client; it is never used twice.
type OperationID [16]byte

// Scope says which broker process and connection a reference belongs to.
type Scope struct {
	BrokerEpoch uint64 // random, new per broker process
	Connection  ConnectionID
}

// StreamID is chosen by the client, strictly increasing from 1, never reused.
type StreamID uint64

// StreamRef names one logical stream.
type StreamRef struct {
	Scope Scope
	ID    StreamID
}

// StartPolicy says whether a daemon that does not run may be started.
type StartPolicy = domain.StartPolicy

const (
	StartIfNeeded = domain.StartIfNeeded
	ExistingOnly  = domain.ExistingOnly
)

// LocalHost is the host name of the broker's own machine.
const LocalHost = ""

// ProxyHost is no host, and none can be called so: at the other end of a link over ssh a stream to it is the readiness line
// of the QUIC proxy there, and ends.
const ProxyHost = "/quic"

// Failure is a fault as it travels: kind, text and hint, each at most fault.MaxText bytes.
type Failure struct {
	Kind fault.Kind
	Text string
	Hint string
}

// FailureOf makes the travelling part of err; causes stay here. Nil stays nil.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Kind: fault.KindOf(err), Text: fault.Clean(err.Error())}
	if e, ok := faultOf(err); ok {
		f.Text, f.Hint = fault.Clean(e.Msg), fault.Clean(e.Hint)
	}
	return f
}

// Fault is the failure as an error of this side, marked as the peer's.
func (f *Failure) Fault() *fault.Error {
	kind := f.Kind
	if !kind.Valid() {
		kind = fault.Internal
	}
	return &fault.Error{Kind: kind, Msg: fault.Clean(f.Text), Hint: fault.Clean(f.Hint), Peer: true}
}

// Outcome closes an operation or request.
type Outcome uint32

const (
	OutcomeOK      Outcome = 0
	OutcomeFailed  Outcome = 1
	OutcomeUnknown Outcome = 2
)

// BrokerClientMessage is one message from client to broker.
type BrokerClientMessage interface{ brokerClient() }

// BrokerServerMessage is one message from broker to client.
type BrokerServerMessage interface{ brokerServer() }

type (
	// Register begins a conversation. Open, or nil, stands for an OpenStream of stream 1 behind it (FeatureAhead).
	Register struct {
		Client string // who asks: name and version, for logs
		Open   *Opening
	}
	Registered struct{ Scope Scope }
	// Opening is an OpenStream without its reference, whose scope nobody knows yet.
	Opening struct {
		Host   string
		Start  StartPolicy
		First  []byte
		Public bool
	}

	OpenStream struct {
		Ref    StreamRef
		Host   string // LocalHost or a host of the catalogue
		Start  StartPolicy
		First  []byte // of the stream, before all data (FeatureFirst); at most MaxFirstBytes
		Public bool   // what First says may be seen by other users of both machines
	}
	// StreamOpened grants a stream. Direct: the daemon's connection itself came with this message, as
	// a descriptor (FeatureDirect), and carries the bytes; the stream stands for its life.
	StreamOpened struct {
		Ref    StreamRef
		Direct bool
	}

	// StreamData is a chunk of a stream, in either direction. Data is valid until the
	// receiver reads its next message.
	StreamData struct {
		Ref  StreamRef
		Data []byte
	}
	// StreamWindowUpdate grants credit, in either direction; Credit is 1 to StreamWindowBytes.
	StreamWindowUpdate struct {
		Ref    StreamRef
		Credit uint32
	}
	// CloseStream ends a stream; a nil Failure is an orderly close.
	CloseStream struct {
		Ref     StreamRef
		Failure *Failure
	}
	StreamClosed struct {
		Ref     StreamRef
		Failure *Failure
	}

	// BrokerError answers something that was not a stream or an operation, or, with an
	// operation id, a request that has no other answer.
	BrokerError struct {
		Failure   Failure
		Operation OperationID
	}
	Shutdown struct{ Reason Failure }

	StatsRequest struct{ Operation OperationID }
	BrokerStats  struct {
		Operation OperationID
		Stats     BrokerNumbers
	}

	// Ping asks for the Pong with its number, and so for a sign of life (FeaturePings).
	Ping struct{ Number uint64 }
	Pong struct{ Number uint64 }

	// LinkReport says how the link that a stream goes over is (FeatureReports). Move: what is opened to the same host now goes
	// over another link, which answers.
	LinkReport struct {
		Ref       StreamRef
		State     domain.LinkState
		Transport domain.Transport
		RTT       time.Duration // 0: not known
		Silent    time.Duration // since the last contact
		Move      bool
	}

	// Mutation is AddHost, RemoveHost, Reconcile or UpdateHostPolicy; each has what its kind needs.
	Mutation struct {
		Operation OperationID
		Kind      MutationKind
		Host      string           // AddHost: an address; Reconcile: an address or alias; else an alias
		Alias     string           // AddHost; empty: the address's name
		Transport domain.Transport // AddHost, UpdateHostPolicy
		Start     StartPolicy      // AddHost, UpdateHostPolicy
		Install   bool             // Reconcile: copy vev there; AddHost: unless one is there that will do
		Program   string           // path of the vev to copy; empty: the broker's own
	}
	OperationResult struct {
		Operation OperationID
		Outcome   Outcome
		Failure   *Failure
	}
	// Progress tells how far an operation is. Of a step that is over it has the name and the time that took,
	// and why it failed, if it did.
	Progress struct {
		Operation OperationID
		Text      string
		Step      string // one of Steps, or empty
		Took      time.Duration
		Failure   *Failure
	}

	StartPreview struct {
		Operation OperationID
		Host      string
		Session   [16]byte
		Cols      uint32
		Rows      uint32
	}
	CancelPreview struct{ Operation OperationID }
	PromptReply   struct {
		Prompt [16]byte
		Answer []byte
		Cancel bool
	}
)

// Steps of a Reconcile, in their order.
const (
	StepName    = "name"    // where ssh goes, and whether that is to be found
	StepTCP     = "tcp"     // whether somebody listens there
	StepSSH     = "ssh"     // the login, and what machine it is
	StepInstall = "install" // where it was asked for
	StepVersion = "version" // which vev is there
	StepDaemon  = "daemon"  // a stream to the daemon
	StepUDP     = "udp"     // the same over QUIC
)

// MutationKind says which of the four mutations a Mutation is.
type MutationKind uint8

const (
	AddHost MutationKind = iota
	RemoveHost
	Reconcile
	UpdateHostPolicy
)

// ConnNumbers is what one end of a broker connection holds and has done.
type ConnNumbers struct {
	Streams         int    // live
	StreamsTotal    uint64 // ever
	ParkedBytes     uint64 // received and not read, at their cost
	CreditOwedBytes uint64 // read and not granted again
	BytesIn         uint64 // payload of stream data
	BytesOut        uint64
	FramesIn        uint64 // stream data frames
	FramesOut       uint64
	CreditWaits     uint64 // writes that had to wait for credit
	FlowErrors      uint64 // streams settled because a peer ignored a window
}

// BrokerNumbers is what a broker holds and has done.
type BrokerNumbers struct {
	Pid             int           `json:"pid"`
	Version         string        `json:"version"`
	Uptime          time.Duration `json:"-"`
	UptimeMS        int64         `json:"uptime_ms"`
	Clients         int           `json:"clients"`
	Streams         int           `json:"streams"`
	StreamsTotal    uint64        `json:"streams_total"`
	ParkedBytes     uint64        `json:"parked_bytes"`
	CreditOwedBytes uint64        `json:"credit_owed_bytes"`
	BytesIn         uint64        `json:"bytes_in"`
	BytesOut        uint64        `json:"bytes_out"`
	FramesIn        uint64        `json:"frames_in"`
	FramesOut       uint64        `json:"frames_out"`
	CreditWaits     uint64        `json:"credit_waits"`
	FlowErrors      uint64        `json:"flow_errors"`
	ForeignRefused  uint64        `json:"foreign_refused"`
	HeapBytes       uint64        `json:"heap_bytes"`
	Goroutines      int           `json:"goroutines"`
}

func (*Register) brokerClient()           {}
func (*Subscribe) brokerClient()          {}
func (*Resync) brokerClient()             {}
func (*Unsubscribe) brokerClient()        {}
func (*Mutation) brokerClient()           {}
func (*OpenStream) brokerClient()         {}
func (*StreamData) brokerClient()         {}
func (*CloseStream) brokerClient()        {}
func (*StartPreview) brokerClient()       {}
func (*CancelPreview) brokerClient()      {}
func (*StreamWindowUpdate) brokerClient() {}
func (*PromptReply) brokerClient()        {}
func (*StatsRequest) brokerClient()       {}
func (*Ping) brokerClient()               {}

func (*Registered) brokerServer()         {}
func (*SnapshotPart) brokerServer()       {}
func (*SnapshotDelta) brokerServer()      {}
func (*PreviewPublication) brokerServer() {}
func (*Prompt) brokerServer()             {}
func (*OperationResult) brokerServer()    {}
func (*StreamOpened) brokerServer()       {}
func (*StreamData) brokerServer()         {}
func (*StreamClosed) brokerServer()       {}
func (*Progress) brokerServer()           {}
func (*BrokerError) brokerServer()        {}
func (*Shutdown) brokerServer()           {}
func (*StreamWindowUpdate) brokerServer() {}
func (*BrokerStats) brokerServer()        {}
func (*Pong) brokerServer()               {}
func (*LinkReport) brokerServer()         {}

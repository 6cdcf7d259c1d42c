package streambus

import "fmt"

// Reliability says what may become of a frame between processes. Within one process it decides
// nothing: there the subscriber's Overflow does.
type Reliability uint8

const (
	Reliable   Reliability = iota // arrives, or its loss is known: for a stream
	BestEffort                    // may be lost on the way: for a datagram, where there are such
	reliabilities
)

// Priority orders the frames that wait for one subscriber.
type Priority uint8

const (
	Interactive Priority = iota // read before all bulk that waits
	Bulk                        // read when nothing interactive waits
	priorities
)

// Overflow is what a subscription does with a frame for which it has no room. There is no
// default: whoever subscribes knows what may be lost, and nobody else does.
type Overflow uint8

const (
	_          Overflow = iota
	Block               // Publish waits for room, until its context ends; nothing is dropped
	DropNewest          // the new frame is dropped, and counted
	DropOldest          // the oldest frame of the same priority is dropped, and counted
	LatestOnly          // one frame is kept, the newest of all; what it replaces is counted as dropped
	overflows
)

var (
	reliabilityNames = [reliabilities]string{"reliable", "best effort"}
	priorityNames    = [priorities]string{"interactive", "bulk"}
	overflowNames    = [overflows]string{"none", "block", "drop newest", "drop oldest", "latest only"}
)

func (r Reliability) String() string { return name(reliabilityNames[:], uint8(r)) }
func (p Priority) String() string    { return name(priorityNames[:], uint8(p)) }
func (o Overflow) String() string    { return name(overflowNames[:], uint8(o)) }

func name(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown (%d)", i)
}

// Frame is what is published.
type Frame struct {
	Topic       string // 1 to MaxTopicBytes bytes, see ValidTopic
	Payload     []byte // opaque, at most Config.MaxPayloadBytes
	Reliability Reliability
	Priority    Priority
}

// Message is a frame as it is received. All receivers of a frame share one copy of its payload,
// which nobody may change.
type Message struct {
	Frame
	Sequence uint64 // of the whole bus, from 1, larger with each frame
}

package quic

import (
	"time"

	"github.com/quic-go/quic-go/quicvarint"

	"github.com/vev-term/vev/internal/domain/fault"
)

// A packet that is lost and was the last for a while is found out by a timer alone, after some round trips. So what was
// written in a small piece is said a second time, a moment later, in a datagram beside the streams: where the stream's bytes
// begin, and the bytes. Whichever comes first counts.

const (
	// alpnRepeats is alpn where both sides read repeats.
	alpnRepeats = "vev/1+repeats"

	// maxRepeatBytes is how many bytes of a stream a repeat has at most; a larger write is not repeated. With what is around
	// them they fit into a packet of the size that every path carries.
	maxRepeatBytes = 1000
	// repeatDelay is how much later than the last write a repeat is sent, and half of how much later than the first one:
	// what took the packet, such as a full queue, should be over, and what the user waits for should not be late.
	repeatDelay = 8 * time.Millisecond
	// secondDelay is how much later than the first a second repeat is sent, where losses are many.
	secondDelay = 16 * time.Millisecond
	// lossMemory is how many packets a loss makes a connection repeat for. One that loses none repeats nothing; at 1 % a
	// stretch of that many without a loss is rare.
	lossMemory = 512
	// manyMemory is how many packets two losses must be among to be many: at 5 % they nearly always are.
	manyMemory = 128
	// newMemory is how many packets a new connection repeats for: what it loses is not known yet.
	newMemory = 128

	// streamRepeatRate and streamRepeatBurst bound the repeats of a stream: what types and echoes stays below, what draws
	// all the time does not pay twice for all of it.
	streamRepeatRate  = 6 << 10 // bytes a second, repeatCost for each repeat included
	streamRepeatBurst = 8 << 10
	// repeatRate and repeatBurst bound those of a connection.
	repeatRate  = 16 << 10
	repeatBurst = 32 << 10
	// repeatCost is about what a packet has around a repeat.
	repeatCost = 64
	// bulkRate and bulkBurst are what streams write when bulk flows: there the packets behind a lost one tell of it, and
	// nothing is repeated.
	bulkRate  = 128 << 10
	bulkBurst = 16 << 10

	// maxHeld is how many repeats a stream keeps whose time has not come; beyond, the one that is needed the latest goes.
	maxHeld = 4
)

// The first byte of a datagram is what it is: others than these are ignored.
const (
	datagramNothing = 0 // it shows from where it comes
	datagramRepeat  = 1
)

// repeat is a part of what a stream's sender wrote, said again.
type repeat struct {
	stream int64 // the QUIC stream's number
	offset int64 // of data in the stream
	data   []byte
}

// append encodes the repeat: its kind, stream and offset as integers of RFC 9000, section 16, and the bytes.
func (r *repeat) append(b []byte) []byte {
	b = append(b, datagramRepeat)
	b = quicvarint.Append(b, uint64(r.stream))
	b = quicvarint.Append(b, uint64(r.offset))
	return append(b, r.data...)
}

// parseRepeat reads a datagram; nil and no error: it is none that says something. The repeat shares the datagram's memory.
// The error is a Violation.
func parseRepeat(b []byte) (*repeat, error) {
	if len(b) == 0 || b[0] != datagramRepeat {
		return nil, nil
	}
	b = b[1:]
	stream, n, err := quicvarint.Parse(b)
	if err != nil {
		return nil, fault.Wrap(fault.Violation, err, "a repeat ends within its stream's number")
	}
	b = b[n:]
	offset, n, err := quicvarint.Parse(b)
	if err != nil {
		return nil, fault.Wrap(fault.Violation, err, "a repeat ends within its offset")
	}
	b = b[n:]
	switch {
	case len(b) == 0 || len(b) > maxRepeatBytes:
		return nil, fault.New(fault.Violation, "a repeat has %d bytes, must have 1 to %d", len(b), maxRepeatBytes)
	case stream%4 != 0:
		return nil, fault.New(fault.Violation, "a repeat is of stream %d, which no broker opens", stream)
	case offset > quicvarint.Max-uint64(len(b)):
		return nil, fault.New(fault.Violation, "a repeat ends at offset %d", offset+uint64(len(b)))
	}
	return &repeat{stream: int64(stream), offset: int64(offset), data: b}, nil
}

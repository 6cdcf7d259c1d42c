package client

import (
	"github.com/vev-term/vev/internal/domain/keys"
	"github.com/vev-term/vev/internal/protocol"
)

// Bounds of what is kept of the user's input.
const (
	// lookaheadBytes may be read from the terminal beyond the input window, so that the leader key is seen while the
	// program takes nothing. Behind that the terminal is not read: its kernel buffer fills and it waits.
	lookaheadBytes = 64 << 10
	maxLogBytes    = protocol.InputWindowBytes + lookaheadBytes + keys.MaxSequence
	minLogBytes    = 4 << 10
	// maxUnacked bounds the messages in flight; at it, further bytes wait unnumbered and go in fewer, larger messages.
	maxUnacked = 1024
	// rememberedEnds is of how many messages it is known where in the input they end, the acknowledged ones included:
	// an answer comes later than its acknowledgement.
	rememberedEnds = 2 * maxUnacked
	// countedKeys is where counting keys for a notice ends: nobody cares for more.
	countedKeys = 1000
)

// inputLog keeps input until the daemon has it. Bytes get their number when they are sent for the first time and keep
// it: a message that is sent again is the same message. The kept bytes are, in order: numbered messages acked+1,
// acked+2, ..., then bytes without number.
type inputLog struct {
	ring []byte // grows on demand up to maxLogBytes
	head int    // index of the first kept byte
	kept int    // bytes kept

	acked    uint64             // last number the daemon is known to have
	sizes    [maxUnacked]uint32 // of the numbered messages; message n is at n%maxUnacked
	dropped  uint64             // bytes that the daemon has: where the kept ones begin in all input
	ends     [rememberedEnds]uint64
	count    int // numbered messages kept
	numbered int // bytes in them

	next   int // of the numbered messages, how many were sent on this conversation
	nextAt int // bytes in them
}

// room is how many bytes may be read: beside them, the begin of a sequence that was read before finds place too.
func (l *inputLog) room() int { return max(0, maxLogBytes-keys.MaxSequence-l.kept) }

// unsent reports whether a message waits to be sent, now or when the window opens.
func (l *inputLog) unsent() bool { return l.nextAt < l.kept }

// append keeps p, which must fit.
func (l *inputLog) append(p []byte) {
	if l.kept+len(p) > len(l.ring) {
		l.grow(l.kept + len(p))
	}
	tail := l.head + l.kept
	if tail >= len(l.ring) {
		tail -= len(l.ring)
	}
	n := copy(l.ring[tail:], p)
	copy(l.ring, p[n:])
	l.kept += len(p)
}

func (l *inputLog) grow(need int) {
	size := max(minLogBytes, 2*len(l.ring))
	for size < need {
		size *= 2
	}
	ring := make([]byte, min(size, maxLogBytes))
	l.copyOut(ring, 0, l.kept)
	l.ring, l.head = ring, 0
}

// copyOut copies n kept bytes from offset at on.
func (l *inputLog) copyOut(dst []byte, at, n int) {
	from := l.head + at
	if from >= len(l.ring) {
		from -= len(l.ring)
	}
	m := copy(dst[:n], l.ring[from:])
	copy(dst[m:n], l.ring)
}

// take copies the next message to send into dst, which holds protocol.MaxInputBytes, and returns its number and length;
// 0 when there is none or the window is full.
func (l *inputLog) take(dst []byte) (seq uint64, n int) {
	seq = l.acked + uint64(l.next) + 1
	if l.next < l.count {
		n = int(l.sizes[seq%maxUnacked])
	} else {
		n = min(l.kept-l.numbered, protocol.MaxInputBytes, protocol.InputWindowBytes-l.numbered)
		if n == 0 || l.count == maxUnacked {
			return 0, 0
		}
		l.sizes[seq%maxUnacked] = uint32(n)
		l.count++
		l.numbered += n
		l.ends[seq%rememberedEnds] = l.dropped + uint64(l.numbered)
	}
	l.copyOut(dst, l.nextAt, n)
	l.next++
	l.nextAt += n
	return seq, n
}

// ack drops the messages up to number n. It reports false, and changes nothing, when no message had that number yet.
func (l *inputLog) ack(n uint64) bool {
	if n > l.acked+uint64(l.count) {
		return false
	}
	for l.acked < n {
		l.acked++
		size := int(l.sizes[l.acked%maxUnacked])
		l.count--
		l.numbered -= size
		l.kept -= size
		l.dropped += uint64(size)
		l.head += size
		if l.head >= len(l.ring) {
			l.head -= len(l.ring)
		}
		if l.next > 0 {
			l.next--
			l.nextAt -= size
		}
	}
	return true
}

// position is where in all input message n ends, which must have its number; 0 if that was too long ago.
func (l *inputLog) position(n uint64) uint64 {
	if n+rememberedEnds <= l.acked+uint64(l.count) {
		return 0
	}
	return l.ends[n%rememberedEnds]
}

// keysKept counts the keys that are kept, up to countedKeys.
func (l *inputLog) keysKept() (n int) {
	var part [keys.MaxSequence]byte
	var d keys.Decoder
	for at := 0; at < l.kept && n < countedKeys; n++ {
		p := part[:min(len(part), l.kept-at)]
		l.copyOut(p, at, len(p))
		_, size := d.Next(p, false)
		at += max(size, 1) // what is cut at the end is one too
	}
	return n
}

// rewind makes all kept messages wait to be sent, on another conversation.
func (l *inputLog) rewind() { l.next, l.nextAt = 0, 0 }

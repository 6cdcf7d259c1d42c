package quic

import (
	"sync"
	"sync/atomic"
	"time"

	quicgo "github.com/quic-go/quic-go"
)

// The QUIC library makes packets faster than the socket takes them. With bulk on a connection up to 160 KiB of them wait, and
// what another stream writes waits behind: where the other side is near that is most of an echo's time. So while another
// stream has small writes, bulk is written in turns, each when the socket has taken all. How much is under way is left to QUIC:
// bulk fills a long path as before.

const (
	// turnBytes is how much bulk a stream writes at a time while others want room: about what the library gives the socket
	// in one piece. With less bulk becomes slow, with more small writes do.
	turnBytes = 16 << 10
	// roomTime is how long after a small write of a stream others leave room for its next: who types has pauses.
	roomTime = time.Second
)

// room is what bulk leaves on a connection for the small writes, of at most maxRepeatBytes, of other streams. All methods of a
// nil one do nothing.
type room struct {
	sent  func() uint64   // bytes of the packets that the library has made so far
	ended <-chan struct{} // with the connection
	taken *taken          // by its socket

	mu            sync.Mutex // a leaf
	latest, other small      // of two streams
	base          uint64     // of waiting: taken - sent when nothing waited
}

// small is a stream's last small write; the zero value: there was none.
type small struct {
	stream int64
	at     time.Time
}

func newRoom(conn *quicgo.Conn, s socket) *room {
	return makeRoom(func() uint64 { return conn.ConnectionStats().BytesSent }, conn.Context().Done(), s.sends())
}

func makeRoom(sent func() uint64, ended <-chan struct{}, t *taken) *room {
	return &room{sent: sent, ended: ended, taken: t, base: t.bytes.Load() - sent()}
}

// want is told of a small write of a stream: others leave room for its next.
func (r *room) want(stream int64) {
	if r == nil {
		return
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest.stream != stream {
		r.other = r.latest
	}
	r.latest = small{stream, now}
}

// leave is told of a stream's end from this side: it wants no room any more, nor waits for any.
func (r *room) leave(stream int64) {
	if r == nil {
		return
	}
	r.mu.Lock()
	if r.latest.stream == stream {
		r.latest, r.other = r.other, small{}
	} else if r.other.stream == stream {
		r.other = small{}
	}
	r.mu.Unlock()
	r.taken.stir()
}

// wanted reports whether another stream wants room from this one.
func (r *room) wanted(stream int64) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	by := r.latest
	if by.stream == stream {
		by = r.other
	}
	return by.stream != 0 && time.Since(by.at) < roomTime
}

// wait returns when nothing waits for the socket, or the stream, as over says, or the connection has ended.
func (r *room) wait(over *atomic.Bool) {
	for !over.Load() {
		moved := r.taken.moved()
		if r.waiting() == 0 {
			return
		}
		select {
		case <-moved:
		case <-r.ended:
			return
		}
	}
}

// waiting is how many bytes wait for the socket, or fewer: what it takes of other connections counts as this one's. They are
// never more, so that a wait ends when the socket has taken them: it is begun anew whenever there seem to be fewer than none.
func (r *room) waiting() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.taken.bytes.Load() // before sent: what is made and taken meanwhile is not taken for fewer
	n := r.sent() - taken + r.base
	if int64(n) < 0 {
		r.base -= n
		return 0
	}
	return n
}

// taken counts the bytes that a socket has taken, and tells of it.
type taken struct {
	bytes atomic.Uint64
	next  atomic.Pointer[chan struct{}] // closed with the next that it takes; nil: nobody waits for that
}

// sends is the socket's.
func (t *taken) sends() *taken { return t }

// take is told of n more. What was lost right there counts: it does not wait any more.
func (t *taken) take(n int) {
	t.bytes.Add(uint64(n))
	t.stir()
}

// stir has everybody look again who waits.
func (t *taken) stir() {
	if t.next.Load() == nil {
		return
	}
	if c := t.next.Swap(nil); c != nil {
		close(*c)
	}
}

// moved is closed when there is something new. Who looks after this call misses nothing.
func (t *taken) moved() <-chan struct{} {
	for c := make(chan struct{}); ; {
		if t.next.CompareAndSwap(nil, &c) {
			return c
		}
		if old := t.next.Load(); old != nil {
			return *old
		}
	}
}

package brokeripc

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/adapters/descriptor"
	"github.com/vev-term/vev/internal/adapters/streamframe"
)

const (
	// copyBelow is the payload size up to which one copy is cheaper than a second piece.
	copyBelow = 4 << 10
	// keptBuffer is the largest buffer a connection keeps between writes; what needs more
	// borrows sharedBuffer bytes, room for maxOvertaking and the heads.
	keptBuffer   = 4 << 10
	sharedBuffer = maxOvertaking + 16<<10
)

// begun is the place of a head of which something is out already.
const begun = -1

var sharedBuffers = sync.Pool{New: func() any { return new([sharedBuffer]byte) }}

// sender is the carriage's write side. Owned by who has the writing turn.
type sender struct {
	buf     []byte // frames that go before the payload's, then its head
	head    int    // where the payload's head begins in buf, or begun
	payload []byte // the caller's, while it waits
	hand    []int  // descriptors that go with buf
	buffer  int    // as tune left it
	socket  bool   // the carriage is one: it has that buffer, and is read where it is written
	mixed   bool   // small frames go between
	slow    bool   // so is who reads, as the last wait has shown

	vec  [2][]byte
	bufs net.Buffers

	// Of a carriage that can be written without waiting.
	raw  syscall.RawConn       // nil: it cannot
	try  func(fd uintptr) bool // conn.try; a method value would be made for each write
	sent int                   // bytes of buf and payload that are out
	full time.Time             // when the carriage took no more, or zero
	err  error

	small  io.Writer // the carriage, for what is copied behind its head
	writes descriptor.Writes
}

// tune sets how much the socket may hold of what we write, with the writing turn held.
func (c *conn) tune(buffer int) {
	o := &c.out
	if o.buffer == buffer {
		return
	}
	o.buffer = buffer
	if u, ok := c.rw.(interface{ SetWriteBuffer(int) error }); ok {
		_ = u.SetWriteBuffer(buffer) // it only tunes
		o.socket = true
	}
}

func (c *conn) newSender() sender {
	o := sender{small: descriptor.Of(c.rw)}
	if s, ok := c.rw.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			o.raw, o.try = raw, c.try
		}
	}
	return o
}

// send writes out.buf and the payload behind it, with the writing turn held.
func (c *conn) send(payload []byte) error {
	o := &c.out
	if o.hand != nil {
		if err := c.sendHanding(); err != nil {
			return err
		}
	}
	var err error
	switch {
	case len(payload) <= copyBelow:
		o.buf = append(o.buf, payload...)
		if len(o.buf) == 0 {
			return nil
		}
		_, err = o.small.Write(o.buf)
	case o.raw != nil:
		o.payload, o.sent, o.err = payload, 0, nil
		if err = o.raw.Write(o.try); err == nil {
			err = o.err
		}
		o.payload = nil
	default:
		o.vec = [2][]byte{o.buf, payload}
		o.bufs = o.vec[:]
		_, err = o.bufs.WriteTo(c.rw)
	}
	o.vec = [2][]byte{}
	o.buf = giveBack(o.buf)
	return err
}

// try writes as much as the carriage takes at once, and reports whether it is done. Until a
// bulk frame has begun, what came to go before it meanwhile does: the carriage may have made
// it wait for long.
func (c *conn) try(fd uintptr) bool {
	o := &c.out
	if !o.full.IsZero() {
		o.waited(time.Since(o.full))
		o.full = time.Time{}
	}
	for {
		if o.sent <= o.head {
			if o.socket && o.mixed {
				c.lookUp(int(fd))
			}
			c.takeLate()
		}
		vec := o.vec[:0]
		if o.sent < len(o.buf) {
			vec = append(vec, o.buf[o.sent:])
		}
		vec = append(vec, o.payload[max(o.sent-len(o.buf), 0):])
		n, err := o.writes.Writev(int(fd), vec)
		switch err {
		case nil:
			o.sent += n
		case unix.EAGAIN:
			o.full = time.Now()
			return false
		default:
			o.err = os.NewSyscallError("writev", err)
			return true
		}
		if o.sent == len(o.buf)+len(o.payload) {
			return true
		}
	}
}

// wants is the buffer for the next bulk frame.
func (o *sender) wants() int {
	if o.mixed && o.slow {
		return mixedBuffer
	}
	return bulkBuffer
}

// waited notes how long a socket that was full took until it wanted more: the kernel says so when a quarter of twice the buffer
// is left.
func (o *sender) waited(d time.Duration) {
	o.slow = d > time.Duration(o.buffer)*3/2*time.Second/slowReader
}

// lookUp has what has come read before the next bulk frame, while small ones go between: one that came may be about to be
// answered. Who reads is there sooner on the thread that is awake than after the kernel has found another one for it.
func (c *conn) lookUp(fd int) {
	if !descriptor.Readable(fd) {
		return
	}
	c.mu.Lock()
	c.interrupt()
	c.mu.Unlock()
	runtime.Gosched()
}

// takeLate puts what waits to go before any bulk in front of a bulk frame that has not begun.
// Descriptors are left to the next write.
func (c *conn) takeLate() {
	o, w := &c.out, &c.writing
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(w.handing) > 0 || !c.unsent() {
		return
	}
	var head [brokerwire.MaxDataHead + streamframe.HeaderBytes]byte
	n := copy(head[:], o.buf[o.head:])
	o.buf = roomFor(o.buf, len(w.unsent))
	o.buf = append(o.buf[:o.head], w.unsent...)
	w.unsent, w.overtaking = giveBack(w.unsent), 0
	c.takeOwed()
	o.head = len(o.buf)
	o.buf = append(o.buf, head[:n]...)
}

func beginFrame(b []byte) ([]byte, int) {
	return append(b, make([]byte, streamframe.HeaderBytes)...), len(b)
}

// endFrame sets the length of the frame that begins at at and has n bytes of payload to come.
func endFrame(b []byte, at, n int) {
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-streamframe.HeaderBytes+n))
}

// roomFor returns b with room for n more bytes.
func roomFor(b []byte, n int) []byte {
	if len(b)+n <= max(cap(b), keptBuffer) || len(b)+n > sharedBuffer {
		return b // append does as well
	}
	shared := sharedBuffers.Get().(*[sharedBuffer]byte)
	return append(shared[:0], b...)
}

// giveBack empties b and returns what the connection keeps of it.
func giveBack(b []byte) []byte {
	switch {
	case cap(b) <= keptBuffer:
		return b[:0]
	case cap(b) == sharedBuffer:
		sharedBuffers.Put((*[sharedBuffer]byte)(b[:sharedBuffer]))
	}
	return nil
}

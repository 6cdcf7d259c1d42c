package brokeripc

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/adapters/descriptor"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// maxReceived bounds the descriptors that came and that no StreamOpened has claimed yet: more
// are closed, and the message that names them is a violation.
const maxReceived = 16

// none is no descriptor.
const none = -1

func closeDescriptor(fd int) {
	if fd != none {
		_ = unix.Close(fd)
	}
}

// receiver is a Unix socket that keeps the descriptors that come with what it reads. It looks
// for them only while a stream is opening, since that costs each read. It looks from the start:
// most connections are made for one stream, which need not interrupt the first read then.
type receiver struct {
	*net.UnixConn
	plain   io.Reader    // the socket, without descriptors
	opening atomic.Int32 // streams asked for and not answered; those given up count until then
	oob     []byte       // owned by who reads
	asked   bool         // a stream was asked for; until then opening has 1 for the first. Guarded by conn.mu

	mu     sync.Mutex // a leaf
	got    []int      // oldest first
	closed bool
}

// receiving makes a client's carriage take descriptors, where it is a Unix socket, and
// returns the feature that says so.
func receiving(rw io.ReadWriteCloser) (io.ReadWriteCloser, uint64) {
	u, ok := rw.(*net.UnixConn)
	if !ok {
		return rw, protocol.FeatureNone
	}
	r := &receiver{UnixConn: u, plain: descriptor.OfBulk(u), oob: make([]byte, unix.CmsgSpace(4*maxReceived))}
	r.opening.Store(1)
	return r, protocol.FeatureDirect
}

// sendable is the feature of a broker's carriage.
func sendable(rw io.ReadWriteCloser) uint64 {
	if _, ok := rw.(*net.UnixConn); ok {
		return protocol.FeatureDirect
	}
	return protocol.FeatureNone
}

// Read implements io.Reader. A descriptor is kept before the first byte that it came with is
// returned.
func (r *receiver) Read(p []byte) (int, error) {
	if r.opening.Load() == 0 {
		return r.plain.Read(p)
	}
	n, oobn, _, _, err := r.ReadMsgUnix(p, r.oob)
	if oobn > 0 {
		r.keep(r.oob[:oobn])
	}
	if n == 0 && err == nil && len(p) > 0 {
		err = io.EOF
	}
	return max(n, 0), err // it is -1 with an error
}

func (r *receiver) keep(oob []byte) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return // cut off by the kernel, which closed what did not fit
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue // something else than descriptors
		}
		r.mu.Lock()
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			if r.closed || len(r.got) == maxReceived {
				closeDescriptor(fd)
				continue
			}
			r.got = append(r.got, fd)
		}
		r.mu.Unlock()
	}
}

// Close implements io.Closer: what nobody claimed is closed too.
func (r *receiver) Close() error {
	r.mu.Lock()
	r.closed = true
	for _, fd := range r.got {
		closeDescriptor(fd)
	}
	r.got = nil
	r.mu.Unlock()
	return r.UnixConn.Close()
}

// expect notes that a descriptor may come from now on, with mu held. A read that is under way
// would lose it and is made to look again. Before it has, nothing may be asked for: the answer
// may find it awake and not yet aware of that. mu is released meanwhile.
func (c *conn) expect() {
	r, ok := c.rw.(*receiver)
	if !ok {
		return
	}
	if !r.asked {
		r.asked = true
		return
	}
	if r.opening.Add(1) == 1 {
		c.interrupt()
	}
	for c.reading.interrupted {
		c.reading.heeded.Wait()
	}
}

// settled notes that an expected answer has come.
func (c *conn) settled() {
	if r, ok := c.rw.(*receiver); ok {
		r.opening.Add(-1)
	}
}

// takeReceived returns the oldest descriptor that came on rw, or none.
func takeReceived(rw io.ReadWriteCloser) int {
	r, ok := rw.(*receiver)
	if !ok {
		return none
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.got) == 0 {
		return none
	}
	fd := r.got[0]
	r.got = r.got[1:]
	return fd
}

// duplicate returns another descriptor of a connection, for sending. It is no os.File, which
// would change the blocking mode that both share.
func duplicate(conn syscall.Conn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return none, err
	}
	dup, failed := none, error(nil)
	err = raw.Control(func(fd uintptr) { dup, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	return dup, errors.Join(err, failed)
}

// sendHanding writes out.buf with the descriptors that go with it, with the writing turn held.
func (c *conn) sendHanding() error {
	o := &c.out
	n, _, err := c.rw.(*net.UnixConn).WriteMsgUnix(o.buf, unix.UnixRights(o.hand...), nil)
	for _, fd := range o.hand {
		closeDescriptor(fd) // the kernel holds its own until they are received
	}
	o.hand = nil
	o.buf = append(o.buf[:0], o.buf[n:]...)
	if o.head -= n; o.head < 0 {
		o.head = begun
	}
	return err
}

// dropHanding closes the descriptors that were not sent before the end, with mu held.
func (c *conn) dropHanding() {
	for _, fd := range c.writing.handing {
		closeDescriptor(fd)
	}
	c.writing.handing = nil
}

// direct is a stream whose bytes go over the daemon's own connection; the logical stream
// tells the broker how long.
type direct struct {
	*net.UnixConn
	stream *Stream
}

var _ ports.Stream = (*direct)(nil)

// handed makes a stream of the descriptor that granted s.
func handed(s *Stream, fd int) (ports.Stream, error) {
	f := os.NewFile(uintptr(fd), "daemon")
	conn, err := net.FileConn(f)
	_ = f.Close() // conn has its own
	if err == nil {
		if u, ok := conn.(*net.UnixConn); ok {
			return &direct{UnixConn: u, stream: s}, nil
		}
		_ = conn.Close()
		err = fault.New(fault.Violation, "the broker handed over something that is no Unix socket")
	}
	_ = s.Abort(*protocol.FailureOf(err))
	return nil, fault.Wrap(fault.Unavailable, err, "cannot use the connection that the broker handed over")
}

// Close implements ports.Stream.
func (d *direct) Close() error {
	err := d.UnixConn.Close()
	_ = d.stream.Close() // the broker may be gone
	return err
}

// Abort implements ports.Stream. The daemon sees its connection end.
func (d *direct) Abort(f protocol.Failure) error {
	err := d.UnixConn.Close()
	_ = d.stream.Abort(f)
	return err
}

package simnet

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// ErrCut is what both ends get once a cut has been reached.
var ErrCut = errors.New("simnet: the connection was cut")

// End is one end of a pipe. Any goroutine may call any method.
type End struct {
	in, out *direction
}

// Pipe returns the two ends of a pipe that holds at most buffer bytes in each direction.
func Pipe(buffer int) (a, b *End) {
	ab, ba := newDirection(buffer), newDirection(buffer)
	return &End{in: ba, out: ab}, &End{in: ab, out: ba}
}

// Read implements io.Reader: io.EOF once the other end is closed and everything was read.
func (e *End) Read(p []byte) (int, error) { return e.in.read(p) }

// Write implements io.Writer; it waits while the buffer is full.
func (e *End) Write(p []byte) (int, error) { return e.out.write(p) }

// Close ends both directions: the other end reads what is under way, then io.EOF.
func (e *End) Close() error {
	e.out.end(io.EOF)
	e.in.end(io.ErrClosedPipe)
	return nil
}

// SetReadDeadline makes reads fail with os.ErrDeadlineExceeded from t on; zero: never.
func (e *End) SetReadDeadline(t time.Time) error {
	e.in.setDeadline(t)
	return nil
}

// CutAfter cuts the pipe, both ways, once n more bytes have been written by this end.
func (e *End) CutAfter(n int) {
	e.out.mu.Lock()
	defer e.out.mu.Unlock()
	e.out.cut, e.out.back = n, e.in
}

// Limit changes how much the pipe holds in each direction from now on.
func (e *End) Limit(buffer int) {
	for _, d := range []*direction{e.in, e.out} {
		d.mu.Lock()
		d.limit = buffer
		d.changed.Broadcast()
		d.mu.Unlock()
	}
}

// Stall stops what this end writes from arriving, until Resume. What was read before is read.
func (e *End) Stall() { e.out.stall(true) }

// Resume ends a Stall.
func (e *End) Resume() { e.out.stall(false) }

// Plain hides everything of a carriage but reading, writing and closing: it has no deadlines.
func Plain(rw io.ReadWriteCloser) io.ReadWriteCloser { return plain{rw} }

type plain struct{ io.ReadWriteCloser }

// direction carries bytes one way.
type direction struct {
	mu      sync.Mutex
	changed sync.Cond
	buf     []byte
	limit   int
	err     error // of reads once buf is empty; of writes at once
	void    bool  // the reader is gone: what is under way is lost
	stalled bool
	late    bool // the read deadline has passed
	timer   *time.Timer
	cut     int        // bytes until the cut, where back is set
	back    *direction // the other direction, which a cut ends too
	wire    *wire      // nil: what is written arrives at once
}

func newDirection(limit int) *direction {
	d := &direction{limit: limit}
	d.changed.L = &d.mu
	return d
}

func (d *direction) read(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		switch {
		case d.void:
			return 0, d.err
		case d.late:
			return 0, os.ErrDeadlineExceeded
		case len(d.buf) > 0 && !d.stalled:
			n := copy(p, d.buf)
			d.buf = append(d.buf[:0], d.buf[n:]...)
			d.changed.Broadcast()
			if d.wire != nil {
				d.advance()
			}
			return n, nil
		case d.err != nil && len(d.buf) == 0 && d.delivered():
			return 0, d.err
		}
		d.changed.Wait()
	}
}

func (d *direction) write(p []byte) (n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for n < len(p) {
		into := &d.buf
		if d.wire != nil {
			into = &d.wire.unsent
		}
		switch room := d.limit - len(*into); {
		case d.err != nil:
			return n, writeError(d.err)
		case d.back != nil && d.cut == 0:
			back := d.back
			d.stop(ErrCut, true)
			d.mu.Unlock()
			back.end(ErrCut)
			d.mu.Lock()
		case room == 0:
			d.changed.Wait()
		default:
			k := min(room, len(p)-n)
			if d.back != nil {
				k = min(k, d.cut)
				d.cut -= k
			}
			*into = append(*into, p[n:n+k]...)
			n += k
			if d.wire != nil {
				d.advance()
			}
			d.changed.Broadcast()
		}
	}
	return n, nil
}

func writeError(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrClosedPipe
	}
	return err
}

func (d *direction) end(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop(err, err != io.EOF)
}

func (d *direction) stop(err error, void bool) {
	if d.err == nil || void {
		d.err = err
	}
	d.void = d.void || void
	if d.timer != nil {
		d.timer.Stop()
	}
	if d.wire != nil && !d.void {
		d.advance() // the end is on its way
	} else if d.wire != nil {
		d.wire.drop()
	}
	d.changed.Broadcast()
}

func (d *direction) stall(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stalled = on
	d.changed.Broadcast()
}

func (d *direction) setDeadline(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	wait := time.Until(t)
	d.late = !t.IsZero() && wait <= 0
	if !t.IsZero() && wait > 0 {
		d.timer = time.AfterFunc(wait, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.late = true
			d.changed.Broadcast()
		})
	}
	d.changed.Broadcast()
}

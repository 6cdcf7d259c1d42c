package brokeripc

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// step is one action of a script; the zero pause runs on at once.
type step struct {
	Pause time.Duration
	Kind  string // write, read, close, abort
	N     int
}

// plan is a whole talk, drawn before anything runs.
type plan struct {
	Buffer, Chunk int
	Window        int64
	Parked        int64
	Plain         bool
	Streams       []streamPlan
}

// streamPlan has a writer and a reader at each end: client, broker.
type streamPlan struct {
	Write, Read [2][]step
}

func drawPlan(t *rapid.T) plan {
	p := plan{
		Buffer: rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(100, 10000)).Draw(t, "carriage"),
		Chunk:  rapid.OneOf(rapid.IntRange(16, 400), rapid.Just(smallFrame+500)).Draw(t, "chunk"),
		Plain:  rapid.Bool().Draw(t, "without deadlines"),
	}
	p.Window = rapid.Int64Range(cost(p.Chunk), 5*cost(p.Chunk)).Draw(t, "window")
	p.Parked = rapid.SampledFrom([]int64{1 << 30, p.Window * 2}).Draw(t, "parked")
	pause := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, 8).Draw(t, "pause")) * time.Millisecond
	})
	side := func(kinds ...string) *rapid.Generator[[]step] {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{pause.Draw(t, "pause"), rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.OneOf(rapid.IntRange(1, 50), rapid.IntRange(1, 3*p.Chunk)).Draw(t, "n")}
		}), 0, 12)
	}
	writes := side("write", "write", "write", "write", "write", "write", "close", "abort")
	reads := side("read", "read", "read", "read", "read", "read", "close")
	for range rapid.IntRange(1, 4).Draw(t, "streams") {
		var s streamPlan
		for end := range 2 {
			s.Write[end], s.Read[end] = writes.Draw(t, "writes"), reads.Draw(t, "reads")
		}
		p.Streams = append(p.Streams, s)
	}
	return p
}

// run carries a plan out and returns what was wrong with it.
func (p plan) run(t *testing.T) (verdict error) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(1 << 10) // what goes behind the preamble must fit
		var ca, cb io.ReadWriteCloser = a, b
		if p.Plain {
			ca, cb = simnet.Plain(a), simnet.Plain(b)
		}
		c, s := connect(t, ca, cb)
		a.Limit(p.Buffer)
		for _, conn := range []*conn{c.conn, s.conn} {
			conn.mu.Lock()
			conn.opts = limits{window: p.Window, chunk: p.Chunk, parked: p.Parked}
			conn.mu.Unlock()
		}
		verdict = p.talk(t, c, s)
		part(c, s)
	})
	return verdict
}

// talk runs every script, waits until all is quiet and compares what came with what was sent.
func (p plan) talk(t *testing.T, c *Client, s *Server) error {
	var ends []*end
	for i := range p.Streams {
		cs, ss := open(t, c, s)
		a, b := &end{name: fmt.Sprintf("stream %d, client", i), stream: cs}, &end{name: fmt.Sprintf("stream %d, broker", i), stream: ss}
		a.peer, b.peer = b, a
		ends = append(ends, a, b)
	}
	var writers, readers sync.WaitGroup
	for i, e := range ends {
		plan := p.Streams[i/2]
		writers.Go(func() { e.write(plan.Write[i%2]) })
		readers.Go(func() { e.read(plan.Read[i%2]) })
	}
	quiet := make(chan struct{})
	go func() {
		defer close(quiet)
		writers.Wait()
		time.Sleep(time.Second) // everything sent has been read
		for _, e := range ends {
			e.finish()
		}
		readers.Wait()
	}()
	err := p.watch(quiet, c.conn, s.conn)
	for _, e := range ends {
		err = errors.Join(err, e.verify())
	}
	return errors.Join(err, c.Err(), s.conn.cause())
}

// watch holds the invariants until all is quiet.
func (p plan) watch(quiet <-chan struct{}, conns ...*conn) error {
	frame := cost(p.Chunk)
	for range 3000 {
		for _, c := range conns {
			c.mu.Lock()
			parked, live := c.parked, len(c.streams)
			var err error
			for _, s := range c.streams {
				if s.held > p.Window || s.held < 0 || s.recv.left+s.recv.earned+s.held != p.Window {
					err = fmt.Errorf("stream %d holds %d of %d: %+v", s.id, s.held, p.Window, s.recv)
				}
			}
			c.mu.Unlock()
			if err != nil {
				return err
			}
			if parked < 0 || parked > p.Parked+frame || live > len(p.Streams) {
				return fmt.Errorf("%d are parked, %d streams live", parked, live)
			}
		}
		select {
		case <-quiet:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
	return errors.New("somebody is stuck")
}

// end is one end of a stream and what its two scripts did.
type end struct {
	name   string
	stream ports.Stream
	peer   *end

	mu       sync.Mutex
	sent     int  // bytes whose Write returned without error before this end ended the stream
	offered  int  // bytes given to Write
	got      int  // bytes read
	bad      bool // one of them was another than sent
	closed   bool // this end closed in order
	aborted  bool
	fullRead error // what ended the reading
}

// at is the byte at an offset of what the end sends.
func at(offset int) byte { return byte(offset*7 ^ offset>>8) }

func (e *end) write(steps []step) {
	for _, s := range steps {
		time.Sleep(s.Pause)
		switch s.Kind {
		case "write":
			p := make([]byte, s.N)
			for i := range p {
				p[i] = at(e.offered + i)
			}
			e.mu.Lock()
			e.offered += s.N
			e.mu.Unlock()
			if _, err := e.stream.Write(p); err != nil {
				return
			}
			e.mu.Lock()
			if !e.closed && !e.aborted {
				e.sent += s.N
			}
			e.mu.Unlock()
		case "close":
			e.close()
			return
		case "abort":
			e.mu.Lock()
			e.aborted = true
			e.mu.Unlock()
			_ = e.stream.Abort(protocol.Failure{Kind: fault.Conflict, Text: "planned"})
			return
		}
	}
}

func (e *end) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	_ = e.stream.Close()
}

func (e *end) read(steps []step) {
	for _, s := range steps {
		time.Sleep(s.Pause)
		if s.Kind == "close" {
			e.close()
			return
		}
		if !e.take(s.N) {
			return
		}
	}
	for e.take(1 << 10) {
	}
}

func (e *end) take(n int) bool {
	p := make([]byte, n)
	n, err := e.stream.Read(p)
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, b := range p[:n] {
		e.bad = e.bad || b != at(e.got+i)
	}
	e.got += n
	e.fullRead = err
	return err == nil
}

// finish closes a stream that nobody has ended yet.
func (e *end) finish() {
	e.mu.Lock()
	e.peer.mu.Lock()
	over := e.closed || e.aborted || e.peer.closed || e.peer.aborted
	e.peer.mu.Unlock()
	e.mu.Unlock()
	if !over {
		e.close()
	}
}

// verify compares what this end read with what its peer sent.
func (e *end) verify() error {
	switch {
	case e.bad || e.got > e.peer.offered:
		return fmt.Errorf("%s: %d bytes came, not all as sent (%d)", e.name, e.got, e.peer.offered)
	case e.closed || e.aborted || e.peer.aborted:
		return nil
	case e.got < e.peer.sent:
		return fmt.Errorf("%s: %d of %d bytes came", e.name, e.got, e.peer.sent)
	case !errors.Is(e.fullRead, io.EOF):
		return fmt.Errorf("%s: an orderly end gave %w", e.name, e.fullRead)
	}
	return nil
}

// Whatever several streams do at once: bytes arrive once and in order, all that was sent before an
// orderly end arrives, nobody holds more than a window, and nobody is stuck.
func TestStreamsModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		if err := p.run(t); err != nil {
			rt.Fatalf("%v", err)
		}
	})
}

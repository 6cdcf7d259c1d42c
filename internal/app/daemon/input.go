package daemon

import (
	"sync"
	"time"
)

const (
	// maxReplyBytes bounds answers to a program that asks and does not read: further ones are dropped.
	maxReplyBytes = 64 << 10
	// maxRequestBytes bounds what requests have queued for one session: the next waits for room.
	maxRequestBytes = 1 << 20
	// inputSlice is what one write gives to the terminal, so that acknowledgements move
	// during a long paste.
	inputSlice = 16 << 10
)

// chunk is input in the order it came. Exactly one of its ends is told when it is written.
type chunk struct {
	data []byte
	from *attachment // with seq, or nil
	seq  uint64      // number of the input message
	done chan bool   // cap 1: told once whether it was written, or nil
	cut  bool        // replies: not counted against anyone
}

// inputQueue holds what waits for the program to read. It is bounded by the windows of the
// attachments (protocol.InputWindowBytes each), maxRequestBytes and maxReplyBytes.
type inputQueue struct {
	mu       sync.Mutex
	chunks   []chunk
	bytes    int
	replies  int
	requests int
	busy     bool // somebody writes to the terminal
	closed   bool
	ready    chan struct{} // cap 1: chunks may be there, or closed
	room     chan struct{} // cap 1: requests may have room
}

func newInputQueue() *inputQueue {
	return &inputQueue{ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// claim takes the terminal for a write that does not wait, if nothing is queued or being
// written. The caller calls release.
func (q *inputQueue) claim() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.busy || len(q.chunks) > 0 {
		return false
	}
	q.busy = true
	return true
}

// release gives the terminal back; rest is what of a claim's write was not taken.
func (q *inputQueue) release(rest chunk) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	if len(rest.data) > 0 && !q.closed {
		q.chunks = append([]chunk{rest}, q.chunks...)
		q.bytes += len(rest.data)
	}
	if len(q.chunks) > 0 {
		signal(q.ready)
	}
}

// push adds a copy of an attachment's input, joined to what it sent just before; false: the
// program has ended.
func (q *inputQueue) push(from *attachment, seq uint64, data []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	if n := len(q.chunks); n > 0 && q.chunks[n-1].from == from && len(q.chunks[n-1].data)+len(data) <= inputSlice {
		q.chunks[n-1].data = append(q.chunks[n-1].data, data...)
		q.chunks[n-1].seq = seq
	} else {
		q.chunks = append(q.chunks, chunk{data: append([]byte(nil), data...), from: from, seq: seq})
	}
	q.bytes += len(data)
	signal(q.ready)
	return true
}

// reply adds a copy of what the engine answers, or drops it at maxReplyBytes.
func (q *inputQueue) reply(data []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.replies+len(data) > maxReplyBytes {
		return
	}
	q.replies += len(data)
	q.bytes += len(data)
	q.chunks = append(q.chunks, chunk{data: append([]byte(nil), data...), cut: true})
	signal(q.ready)
}

// pushRequest adds input of a request if there is room for it; full says that there is not.
func (q *inputQueue) pushRequest(data []byte, done chan bool) (full, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, false
	}
	if q.requests > 0 && q.requests+len(data) > maxRequestBytes {
		return true, true
	}
	q.requests += len(data)
	q.bytes += len(data)
	q.chunks = append(q.chunks, chunk{data: data, done: done})
	signal(q.ready)
	return false, true
}

// take waits for the next chunk; false: the queue is closed.
func (q *inputQueue) take() (chunk, bool) {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return chunk{}, false
		}
		if len(q.chunks) > 0 && !q.busy {
			q.busy = true
			c := q.chunks[0]
			q.chunks[0] = chunk{}
			if q.chunks = q.chunks[1:]; len(q.chunks) == 0 {
				q.chunks = nil
			}
			q.mu.Unlock()
			return c, true
		}
		q.mu.Unlock()
		<-q.ready
	}
}

// nudge wakes the writer for nothing. A reader whose program floods never parks, and the Go
// scheduler looks at the network only when something does: keys of other sessions would wait
// for sysmon, 10 ms. A goroutine made ready wakes an idle thread, which ends up watching.
func (q *inputQueue) nudge() { signal(q.ready) }

// written settles the account of a chunk that take returned.
func (q *inputQueue) written(c chunk) {
	q.mu.Lock()
	q.busy = false
	q.bytes -= len(c.data)
	if c.cut {
		q.replies -= len(c.data)
	}
	if c.done != nil {
		q.requests -= len(c.data)
		signal(q.room)
	}
	q.mu.Unlock()
	if c.done != nil {
		c.done <- true
	}
}

// close gives up on what is queued and releases every waiter.
func (q *inputQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	for _, c := range q.chunks {
		if c.done != nil {
			c.done <- false
		}
	}
	q.chunks, q.bytes = nil, 0
	signal(q.ready)
	signal(q.room)
}

func (q *inputQueue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// writeInput gives queued input to the terminal, in order. The program may not read for as
// long as it likes: only this goroutine waits for it.
func (s *session) writeInput() {
	for {
		c, ok := s.input.take()
		if !ok {
			return
		}
		for rest := c.data; len(rest) > 0; {
			n := min(len(rest), inputSlice)
			if _, err := s.program.Write(rest[:n]); err != nil {
				if c.done != nil {
					c.done <- false
				}
				s.input.close()
				return
			}
			rest = rest[n:]
		}
		s.d.numbers.inputBytes.Add(uint64(len(c.data)))
		s.input.written(c)
		if c.from != nil {
			s.mu.Lock()
			c.from.inputWritten(c.seq, len(c.data), time.Now())
			s.mu.Unlock()
		}
	}
}

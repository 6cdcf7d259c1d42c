package brokeripc

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

const (
	// smallFrame is the largest payload that shares a chunk with others; a larger one has a
	// chunk of its own that the carriage is read into.
	smallFrame = 2 << 10
	// minChunk is the smallest chunk and the one small frames share.
	minChunk    = 4 << 10
	minChunkLog = 12
	chunkSizes  = 5 // 4, 8, 16, 32 and 64 KiB

	frameHead = 2 // length of a small frame, in front of it
)

// chunk holds received payload on its way to a Read. It has one owner at a time: the pump
// while it is filled, the stream's queue, then the reader, who gives it back.
type chunk struct {
	next *chunk
	buf  []byte
	r, w int
	size int  // of the frame at r
	left int  // bytes of it not yet read
	solo bool // one frame without a head, or several with one each
}

var chunkPools [chunkSizes]sync.Pool

// chunkSize is the index of the smallest chunk that holds n bytes.
func chunkSize(n int) int {
	return max(bits.Len(uint(n-1)), minChunkLog) - minChunkLog
}

func newChunk(n int, solo bool) *chunk {
	i := chunkSize(n)
	c, ok := chunkPools[i].Get().(*chunk)
	if !ok {
		c = &chunk{buf: make([]byte, minChunk<<i)}
	}
	c.solo = solo
	return c
}

// free gives the chunk back; nobody may hold it any more.
func (c *chunk) free() {
	i := chunkSize(len(c.buf))
	c.next, c.r, c.w, c.size, c.left = nil, 0, 0, 0, 0
	chunkPools[i].Put(c)
}

// read copies what fits into p and returns the cost of the frames that were read to their end.
func (c *chunk) read(p []byte) (n int, done int64) {
	for n < len(p) && (c.r < c.w || c.left > 0) {
		if c.left == 0 {
			c.size = c.frame()
			c.left = c.size
		}
		m := copy(p[n:], c.buf[c.r:c.r+c.left])
		n, c.r, c.left = n+m, c.r+m, c.left-m
		if c.left == 0 {
			done += cost(c.size)
		}
	}
	return n, done
}

// frame steps to the next frame and returns its length.
func (c *chunk) frame() int {
	if c.solo {
		return c.w - c.r
	}
	n := int(binary.BigEndian.Uint16(c.buf[c.r:]))
	c.r += frameHead
	return n
}

func (c *chunk) empty() bool { return c.r == c.w && c.left == 0 }

// recvQueue is what a stream received and its consumer has not taken, in order.
type recvQueue struct {
	head, tail *chunk
}

func (q *recvQueue) empty() bool { return q.head == nil }

func (q *recvQueue) push(c *chunk) {
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
}

// add copies a small frame behind the last one.
func (q *recvQueue) add(b []byte) {
	c := q.tail
	if c == nil || c.solo || len(c.buf)-c.w < frameHead+len(b) {
		c = newChunk(minChunk, false)
		q.push(c)
	}
	binary.BigEndian.PutUint16(c.buf[c.w:], uint16(len(b)))
	c.w += frameHead + copy(c.buf[c.w+frameHead:], b)
}

// pop takes the first chunk out; small frames that come later go to another one.
func (q *recvQueue) pop() *chunk {
	c := q.head
	q.head = c.next
	if q.head == nil {
		q.tail = nil
	}
	c.next = nil
	return c
}

func (q *recvQueue) drop() {
	for !q.empty() {
		q.pop().free()
	}
}

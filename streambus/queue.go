package streambus

// queue is a ring of messages in the order of their sequence. It grows as it is filled and keeps
// its memory; how many it may hold is the owner's business. The messages are shared by all that
// hold them, and never changed: with many subscriptions memory that is not in a cache is what a
// delivery costs.
type queue struct {
	ring []*Message // its length is a power of two, or 0
	head int        // of the oldest
	n    int
}

const firstRing = 4

func (q *queue) at(i int) *Message { return q.ring[(q.head+i)&(len(q.ring)-1)] }

func (q *queue) push(m *Message) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = m
	q.n++
}

func (q *queue) grow() {
	ring := make([]*Message, max(firstRing, 2*len(q.ring)))
	k := copy(ring, q.ring[q.head:])
	copy(ring[k:], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

// pop takes the oldest out, of one that is not empty. What it held can be collected.
func (q *queue) pop() *Message {
	m := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return m
}

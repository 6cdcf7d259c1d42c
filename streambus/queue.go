package streambus

// queue is a ring of messages in the order of their sequence. It grows as it is filled and keeps
// its memory; how many it may hold is the owner's business.
type queue struct {
	ring []Message // its length is a power of two, or 0
	head int       // of the oldest
	n    int
}

const firstRing = 4

func (q *queue) at(i int) *Message { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

func (q *queue) push(m *Message) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.n++
	*q.at(q.n - 1) = *m
}

func (q *queue) grow() {
	ring := make([]Message, max(firstRing, 2*len(q.ring)))
	k := copy(ring, q.ring[q.head:])
	copy(ring[k:], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

// pop takes the oldest out, of one that is not empty. What it held can be collected.
func (q *queue) pop() Message {
	slot := q.at(0)
	m := *slot
	*slot = Message{}
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return m
}

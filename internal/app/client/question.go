package client

import "github.com/vev-term/vev/internal/protocol"

// A question is a request to the daemon that its attachment carries: for lines of the history, for a match. It goes
// behind all input, survives a lost conversation, and is answered once. They are few: lines are asked for one stretch
// after the other, and a new search takes the place of the last.
type question struct {
	id     uint64
	body   protocol.RequestBody
	sent   bool                   // on this conversation
	answer func(*protocol.Result) // nil: given up
}

// questions are in the order of asking. Guarded by outbox.mu.
type questions struct {
	list    []question
	last    uint64   // id given
	dropped []uint64 // given up while on their way: to be told
}

// rewind makes every question wait to be sent, on another conversation.
func (q *questions) rewind() {
	kept := q.list[:0]
	for _, one := range q.list {
		if one.sent = false; one.answer != nil {
			kept = append(kept, one)
		}
	}
	q.list, q.dropped = kept, q.dropped[:0]
}

// ask asks the daemon, through the sender: it never waits. answer is called once on the link's goroutine, unless the question is given up.
func (o *outbox) ask(body protocol.RequestBody, answer func(*protocol.Result)) (id uint64) {
	o.mu.Lock()
	q := &o.asked
	q.last++
	id = q.last
	q.list = append(q.list, question{id: id, body: body, answer: answer})
	o.mu.Unlock()
	signal(o.wake)
	return id
}

// giveUp forgets a question: its answer is of no use any more.
func (o *outbox) giveUp(id uint64) {
	o.mu.Lock()
	q := &o.asked
	for i := range q.list {
		if q.list[i].id != id {
			continue
		}
		if q.list[i].sent {
			q.list[i].answer = nil
			q.dropped = append(q.dropped, id)
		} else {
			q.list = append(q.list[:i], q.list[i+1:]...)
		}
		break
	}
	o.mu.Unlock()
	signal(o.wake)
}

// answered gives a result to whoever asked.
func (o *outbox) answered(m *protocol.Result) {
	var answer func(*protocol.Result)
	o.mu.Lock()
	q := &o.asked
	for i := range q.list {
		if q.list[i].id == m.ID {
			answer = q.list[i].answer
			q.list = append(q.list[:i], q.list[i+1:]...)
			break
		}
	}
	o.mu.Unlock()
	if answer != nil {
		answer(m)
	}
}

// question makes the next message of questions, nil when none is owed. The caller holds mu.
func (o *outbox) question() protocol.SessionClientMessage {
	q := &o.asked
	if n := len(q.dropped); n > 0 {
		o.outStop.ID = q.dropped[n-1]
		q.dropped = q.dropped[:n-1]
		return &o.outStop
	}
	for i := range q.list {
		if one := &q.list[i]; !one.sent {
			one.sent = true
			o.outAsk = protocol.Request{ID: one.id, Body: one.body}
			return &o.outAsk
		}
	}
	return nil
}

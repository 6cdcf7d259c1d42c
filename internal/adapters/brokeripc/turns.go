package brokeripc

import "github.com/vev-term/vev/internal/protocol"

// quantum is what a stream may send in each round while others wait: one frame of the
// largest payload, so a round of n streams takes n such frames at most.
const quantum = protocol.MaxChunkBytes

// writeTurns decides who writes next while the carriage is busy: deficit round robin in a
// form that fits writers who bring one frame each and wait until it is out. A stream with
// quantum left overtakes: it need not wait at all (conn.beginWrite) or waits in the fresh
// line. One that has too little left for its frame goes to the end of the round, and gets a
// new quantum when its turn comes. So a shell's echo passes a flood, and of two floods
// neither gets more bytes than the other, whatever the size of their frames.
type writeTurns struct {
	fresh, round line
}

// wait lines up s with a frame of n bytes.
func (t *writeTurns) wait(s *Stream, n int) {
	s.lined = true
	s.frame = int64(n)
	if s.quantum >= s.frame {
		t.fresh.push(s)
		return
	}
	t.round.push(s)
}

// next takes out the stream whose turn it is, or nil.
func (t *writeTurns) next() *Stream {
	if s := t.fresh.pop(); s != nil {
		s.lined = false
		s.quantum -= s.frame
		return s
	}
	s := t.round.pop()
	if s != nil {
		s.lined = false
		s.quantum = s.quantum + quantum - s.frame
	}
	return s
}

// leave takes a stream out that waits no more.
func (t *writeTurns) leave(s *Stream) {
	if s.lined {
		s.lined = false
		if !t.fresh.remove(s) {
			t.round.remove(s)
		}
	}
}

// line is a queue of streams, linked through Stream.behind.
type line struct{ head, tail *Stream }

func (l *line) push(s *Stream) {
	if l.tail == nil {
		l.head = s
	} else {
		l.tail.behind = s
	}
	l.tail = s
}

func (l *line) pop() *Stream {
	s := l.head
	if s != nil {
		l.head, s.behind = s.behind, nil
		if l.head == nil {
			l.tail = nil
		}
	}
	return s
}

// remove takes s out of the middle; the line has at most protocol.MaxStreams.
func (l *line) remove(s *Stream) bool {
	var prev *Stream
	for at := l.head; at != nil; prev, at = at, at.behind {
		if at != s {
			continue
		}
		if prev == nil {
			l.head = s.behind
		} else {
			prev.behind = s.behind
		}
		if l.tail == s {
			l.tail = prev
		}
		s.behind = nil
		return true
	}
	return false
}

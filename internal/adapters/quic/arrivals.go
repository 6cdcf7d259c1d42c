package quic

import "slices"

// arrivals puts together what comes of a stream twice: in order from QUIC, and in repeats, which come in any order, more
// than once, or not at all. Each byte leaves it once, in order. Not safe for concurrent use.
type arrivals struct {
	next int64 // offset of what leaves next
	came int64 // of what QUIC gives next; at most next
	held []repeat
}

// offer takes a repeat, and reports whether something can leave at once.
func (a *arrivals) offer(r repeat) bool {
	if r.offset+int64(len(r.data)) <= a.next {
		return false
	}
	now := r.offset <= a.next
	a.forget()
	if len(a.held) == maxHeld {
		last := 0
		for i := range a.held {
			if a.held[i].offset > a.held[last].offset {
				last = i
			}
		}
		if a.held[last].offset <= r.offset {
			return now // then all that is held can
		}
		a.held = slices.Delete(a.held, last, last+1)
	}
	a.held = append(a.held, r)
	return now
}

// forget drops the repeats of which everything has left.
func (a *arrivals) forget() {
	a.held = slices.DeleteFunc(a.held, func(r repeat) bool { return r.offset+int64(len(r.data)) <= a.next })
}

// take moves what repeats have of the next bytes into p.
func (a *arrivals) take(p []byte) (n int) {
	if len(a.held) == 0 {
		return 0
	}
	a.forget()
	for _, r := range a.held {
		if r.offset <= a.next {
			n = copy(p, r.data[a.next-r.offset:])
			a.next += int64(n)
			return n
		}
	}
	return 0
}

// pass takes p, which came from QUIC, and leaves what is new of it at its beginning.
func (a *arrivals) pass(p []byte) (n int) {
	known := min(a.next-a.came, int64(len(p)))
	a.came += int64(len(p))
	if known > 0 {
		copy(p, p[known:])
	}
	n = len(p) - int(known)
	a.next += int64(n)
	return n
}

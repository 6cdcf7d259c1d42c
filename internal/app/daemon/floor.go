package daemon

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// floorTime is how long floods stand back at most for the answer to a key.
	floorTime = 2 * time.Millisecond
	// floorRest is what floods have for themselves after they stood back, so that no amount of
	// typing takes more than a third of their time.
	floorRest = 4 * time.Millisecond
)

// floor lets the sessions that flood stand back while another answers a key. On a busy machine
// each hop of a key and its echo waits for a processor that a flood holds: the flood loses a
// millisecond, the key its wait at every hop.
type floor struct {
	held atomic.Bool // looked at before each read of a flood

	mu     sync.Mutex
	holder *session
	until  time.Time     // when the floor is free again, even if no answer came
	rested time.Time     // before it nobody takes the floor
	free   chan struct{} // closed when it is given back; nil: nobody stands back
}

// take gives the floor to s, which was just given a key, unless the floods must have their time.
func (f *floor) take(s *session, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holder != nil && now.Before(f.until) || now.Before(f.rested) {
		return
	}
	f.release()
	f.holder, f.until, f.rested = s, now.Add(floorTime), now.Add(floorTime+floorRest)
	f.held.Store(true)
}

// give ends the turn of s, if it is its turn: the answer is on its way.
func (f *floor) give(s *session) {
	if !f.held.Load() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holder == s {
		f.rested = time.Now().Add(floorRest)
		f.release()
	}
}

// release wakes who stands back. The caller holds mu.
func (f *floor) release() {
	if f.free != nil {
		close(f.free)
	}
	f.holder, f.free = nil, nil
	f.held.Store(false)
}

// standBack waits, at most floorTime, while another session than s has the floor.
func (f *floor) standBack(s *session) {
	if !f.held.Load() {
		return
	}
	f.mu.Lock()
	wait := time.Until(f.until)
	if f.holder == nil || f.holder == s || wait <= 0 {
		f.mu.Unlock()
		return
	}
	if f.free == nil {
		f.free = make(chan struct{})
	}
	free := f.free
	f.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-free:
	case <-timer.C:
	}
}

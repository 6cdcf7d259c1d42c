package daemon

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/domain"
)

const (
	// floorTime is how long floods stand back at most for the answer to a key.
	floorTime = 2 * time.Millisecond
	// floorRest is what floods have for themselves after they stood back, so that no amount of
	// typing takes more than a third of their time.
	floorRest = 4 * time.Millisecond

	// typingTime is how long after a key a person may be about to type the next.
	typingTime = 100 * time.Millisecond
	// floodTurn and floodPause divide the time of a flood while somebody types into another session on a machine with
	// few processors. The pause is long enough for the terminal's buffer to fill, so that the program stops as well.
	floodTurn  = time.Millisecond
	floodPause = 8 * time.Millisecond
	// fewProcessors are as many as a flood or two can take: its program has one, its reader another.
	fewProcessors = 4

	// floodBytes within floodWindow are more than an answer to a key: more may follow at once, for long.
	floodBytes  = 16 << 10
	floodWindow = 10 * time.Millisecond
)

// floor lets the sessions that flood stand back while another answers a key. On a busy machine
// each hop of a key and its echo waits for a processor that a flood holds: the flood loses a
// millisecond, the key its wait at every hop. It knows sessions by their ids, so that none that ended is kept for it.
type floor struct {
	crowded bool        // the machine has few processors: set at the start
	held    atomic.Bool // looked at before each read of a flood

	mu     sync.Mutex
	typist domain.SessionID // which was given the last key
	typed  time.Time        // when
	holder domain.SessionID // zero: the floor is free
	until  time.Time        // when the floor is free again, even if no answer came
	rested time.Time        // before it nobody takes the floor
	free   chan struct{}    // closed when it is given back; nil: nobody stands back
}

// take gives the floor to a session, which was just given a key, unless the floods must have their time.
func (f *floor) take(id domain.SessionID, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.typist, f.typed = id, now
	if !f.holder.IsZero() && now.Before(f.until) || now.Before(f.rested) {
		return
	}
	f.release()
	f.holder, f.until, f.rested = id, now.Add(floorTime), now.Add(floorTime+floorRest)
	f.held.Store(true)
}

// give ends the turn of a session, if it has it: the answer is on its way.
func (f *floor) give(id domain.SessionID) {
	if !f.held.Load() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holder == id {
		f.rested = time.Now().Add(floorRest)
		f.release()
	}
}

// release wakes who stands back. The caller holds mu.
func (f *floor) release() {
	if f.free != nil {
		close(f.free)
	}
	f.holder, f.free = domain.SessionID{}, nil
	f.held.Store(false)
}

// standBack waits, at most floorTime, while another session than id has the floor.
func (f *floor) standBack(id domain.SessionID) {
	if !f.held.Load() {
		return
	}
	f.mu.Lock()
	wait := time.Until(f.until)
	if f.holder.IsZero() || f.holder == id || wait <= 0 {
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

// typing reports whether somebody types into another session than id.
func (f *floor) typing(id domain.SessionID, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.typist != id && now.Sub(f.typed) < typingTime
}

// flood notices when a session prints much for long, and has its reader make room for keys of others. It is the reader's.
type flood struct {
	window time.Time // begin of the present floodWindow
	bytes  int       // read in it
	turn   time.Time // since when it reads beside typing; zero: it does not
}

// yield waits where id, of whose output n bytes were just read, floods while another session is typed into: for an answer
// that is due, and on a machine with few processors for most of the time.
func (fl *flood) yield(f *floor, id domain.SessionID, n int) {
	now := time.Now()
	if now.Sub(fl.window) > floodWindow {
		fl.window, fl.bytes = now, 0
	}
	if fl.bytes += n; fl.bytes < floodBytes {
		return
	}
	f.standBack(id)
	switch {
	case !f.crowded || !f.typing(id, now):
		fl.turn = time.Time{}
	case fl.turn.IsZero():
		fl.turn = now
	case now.Sub(fl.turn) >= floodTurn:
		time.Sleep(floodPause)
		fl.turn = time.Now()
	}
}

package daemon

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// rowsInterval is the least time between two updates of one watch: what changes faster is told in one.
	rowsInterval = 50 * time.Millisecond
	// maxDirty is how many sessions of a watch may have changed before all are looked at: short-lived ones come and go
	// while a client takes nothing.
	maxDirty = 2 * protocol.MaxSessions
	// updateBytes bounds the part of an update that one message holds, about; a row has 4 KiB at most.
	updateBytes = 256 << 10
)

// usedGrain is how exactly a watch knows when a session was used: keys come by the dozen a second.
func usedGrain(t time.Time) int64 { return t.Unix() / 60 }

// rows knows who watches the list of sessions, and which rows may have changed for them.
type rows struct {
	watched atomic.Int32 // len(watches): what nobody watches costs a load

	// Guarded by mu, a leaf lock below every other.
	mu      sync.Mutex
	watches map[*rowsWatch]struct{}
}

// rowsWatch is one client's watch of the list.
type rowsWatch struct {
	wake chan struct{} // cap 1: something is dirty

	// Guarded by rows.mu.
	all   bool // any row may have changed
	dirty map[domain.SessionID]struct{}

	// Owned by who tells the client.
	told     map[domain.SessionID]toldRow
	revision uint64
	sent     time.Time // the last update
}

// toldRow is what of a row may change, as the client knows it.
type toldRow struct {
	name, title, cwd string
	state            domain.SessionState
	exit             domain.ExitStatus
	attached, pid    int
	size             domain.Size
	policy           domain.SizePolicy
	used             int64
	condition        domain.Condition
	generation       uint64
	locked           bool
}

// note says that a session's row may have changed, or that the session has come or gone. Any lock may be held.
func (r *rows) note(id domain.SessionID) {
	if r.watched.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for w := range r.watches {
		if !w.all {
			w.dirty[id] = struct{}{}
		}
		if len(w.dirty) > maxDirty {
			w.all = true
			clear(w.dirty)
		}
		signal(w.wake)
	}
}

func (r *rows) enter(w *rowsWatch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watches == nil {
		r.watches = map[*rowsWatch]struct{}{}
	}
	r.watches[w] = struct{}{}
	r.watched.Add(1)
}

func (r *rows) leave(w *rowsWatch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.watches, w)
	r.watched.Add(-1)
}

// take returns the sessions to look at, and that all are.
func (r *rows) take(w *rowsWatch) (dirty []domain.SessionID, all bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range w.dirty {
		dirty = append(dirty, id)
	}
	clear(w.dirty)
	all, w.all = w.all, false
	return dirty, all
}

// tellRows is the watchPart of the catalogue: the list as it is, then what changes.
func (d *Daemon) tellRows(ctx context.Context, conn ports.SessionServerConn) error {
	w := &rowsWatch{
		wake: make(chan struct{}, 1), all: true,
		dirty: map[domain.SessionID]struct{}{}, told: map[domain.SessionID]toldRow{},
	}
	d.rows.enter(w)
	defer d.rows.leave(w)
	for {
		changed, gone := d.dirtyRows(w)
		if len(changed)+len(gone) > 0 || w.revision == 0 {
			if err := w.send(conn, changed, gone); err != nil {
				return err
			}
			w.sent = time.Now()
		}
		if !w.wait(ctx) {
			return nil
		}
	}
}

// wait waits until something is dirty and may be told; false: ctx ended first.
func (w *rowsWatch) wait(ctx context.Context) bool {
	select {
	case <-w.wake:
	case <-ctx.Done():
		return false
	}
	left := time.Until(w.sent.Add(rowsInterval))
	if left <= 0 {
		return true
	}
	pace := time.NewTimer(left)
	defer pace.Stop()
	select {
	case <-pace.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// dirtyRows is what the client does not know yet, and now counts as told.
func (d *Daemon) dirtyRows(w *rowsWatch) (changed []domain.SessionInfo, gone []domain.SessionID) {
	dirty, all := d.rows.take(w)
	if all {
		dirty = dirty[:0]
		for id := range w.told {
			dirty = append(dirty, id)
		}
		for _, s := range d.all() {
			if _, told := w.told[s.id]; !told {
				dirty = append(dirty, s.id)
			}
		}
	}
	for _, id := range dirty {
		row, listed := d.catalogueRow(id)
		before, told := w.told[id]
		switch {
		case !listed && told:
			delete(w.told, id)
			gone = append(gone, id)
		case listed:
			now := toldRow{
				row.Name, row.Title, row.Cwd, row.State, row.Exit, row.Attached, row.Pid, row.Size, row.Policy, usedGrain(row.LastUsed),
				row.Condition, row.Generation, row.Locked,
			}
			if !told || now != before {
				w.told[id] = now
				changed = append(changed, row)
			}
		}
	}
	return changed, gone
}

// catalogueRow is a session's row of the list, with texts no longer than a catalogue has them.
func (d *Daemon) catalogueRow(id domain.SessionID) (row domain.SessionInfo, listed bool) {
	d.mu.Lock()
	s := d.sessions[id]
	d.mu.Unlock()
	if s == nil {
		return row, false
	}
	if row, listed = s.info(); !listed {
		return row, false
	}
	row.Title = clip(row.Title, protocol.MaxRowTextBytes)
	if len(row.Cwd) > protocol.MaxRowTextBytes {
		row.Cwd = "" // a part of it would be another directory
	}
	row.Command = shortCommand(row.Command)
	return row, true
}

// shortCommand is the begin of a command line that is too long for a catalogue.
func shortCommand(argv []string) []string {
	bytes := 0
	for i, arg := range argv {
		if i == protocol.MaxRowArgs {
			return argv[:i]
		}
		if room := protocol.MaxRowTextBytes - bytes; len(arg) > room {
			return append(argv[:i:i], clip(arg, room))
		}
		bytes += len(arg)
	}
	return argv
}

// send tells an update, in as many messages as it takes.
func (w *rowsWatch) send(conn ports.SessionServerConn, changed []domain.SessionInfo, gone []domain.SessionID) error {
	w.revision++
	for more := true; more; gone = nil {
		bytes, n := 0, 0
		for n < len(changed) && bytes < updateBytes {
			bytes += rowSize(&changed[n])
			n++
		}
		more = n < len(changed)
		m := &protocol.CatalogueUpdate{
			Base: w.revision - 1, Revision: w.revision, Sessions: changed[:n:n], Gone: gone, More: more,
		}
		if err := conn.Send(m); err != nil {
			return err
		}
		changed = changed[n:]
	}
	return nil
}

// rowSize is about what a row takes on the wire.
func rowSize(s *domain.SessionInfo) int {
	const fixed = 128
	n := fixed + len(s.Name) + len(s.Title) + len(s.Cwd)
	for _, arg := range s.Command {
		n += len(arg) + 4
	}
	return n
}

package vt

import "strings"

// StatusState is what a program says of itself (OSC 7501).
type StatusState uint8

// The states. StatusNone is no state of a record.
const (
	StatusNone    StatusState = iota
	StatusIdle                // ready for something to do
	StatusWorking             // until the next prompt
	StatusBlocked             // waits for the person: see StatusKind; until the next prompt
	StatusDone
	StatusError
)

// String returns the protocol's name of the state, "" for none.
func (s StatusState) String() string {
	return [...]string{"", "idle", "working", "blocked", "done", "error"}[s]
}

// StatusKind says what a blocked program waits for.
type StatusKind uint8

// The kinds. StatusUnspecified is when the program did not say.
const (
	StatusUnspecified StatusKind = iota
	StatusPermission
	StatusQuestion
	StatusAuth
)

// ProgramStatus is one record of the program status protocol. Its texts are the program's: valid UTF-8, one line, without
// controls and marks that reorder text.
type ProgramStatus struct {
	// ID is a path of names separated by slashes; "" is the program at the root.
	ID    string
	State StatusState
	// Kind is given with StatusBlocked.
	Kind StatusKind
	// Progress is a percentage, -1 when none was given.
	Progress int
	// App is the program's name, or that of the nearest record above in the path that has one.
	App            string
	Title, Message string
	// Updated grows with each report of this terminal, so that a reader knows which records are new.
	Updated uint64
}

// maxStatuses bounds the records; over it the one that was reported the longest ago is dropped.
const maxStatuses = 256

// statuses are the records, the one reported the longest ago first.
type statuses struct {
	list    []ProgramStatus
	updated uint64
}

// Statuses returns the records that the program's reports (OSC 7501) left, the one reported the longest ago first. An
// EventStatus tells of each change.
func (t *Terminal) Statuses() []ProgramStatus {
	out := append([]ProgramStatus(nil), t.statuses.list...)
	for i := range out {
		for id := out[i].ID; out[i].App == "" && id != ""; {
			id = parentStatus(id)
			out[i].App = t.statuses.app(id)
		}
	}
	return out
}

func parentStatus(id string) string { return id[:max(strings.LastIndexByte(id, '/'), 0)] }

func (s *statuses) app(id string) string {
	for i := range s.list {
		if s.list[i].ID == id {
			return s.list[i].App
		}
	}
	return ""
}

// drop removes the records that gone names, and tells of it.
func (s *statuses) drop(t *Terminal, gone func(*ProgramStatus) bool) {
	t.work += uint64(len(s.list))
	kept := s.list[:0]
	for i := range s.list {
		if !gone(&s.list[i]) {
			kept = append(kept, s.list[i])
		}
	}
	if len(kept) == len(s.list) {
		return
	}
	clear(s.list[len(kept):])
	s.list = kept
	t.emit(Event{Kind: EventStatus})
}

// prompt drops what does not outlive the program: a shell that prompts is not working.
func (s *statuses) prompt(t *Terminal) {
	s.drop(t, func(p *ProgramStatus) bool { return p.State == StatusWorking || p.State == StatusBlocked })
}

// forget drops the record id and all below it; "" drops all.
func (s *statuses) forget(t *Terminal, id string) {
	s.drop(t, func(p *ProgramStatus) bool {
		return id == "" || p.ID == id || strings.HasPrefix(p.ID, id+"/")
	})
}

// put makes p the newest record, in place of the one with its ID.
func (s *statuses) put(t *Terminal, p ProgramStatus) {
	t.work += uint64(len(s.list))
	s.updated++
	p.Updated = s.updated
	at := -1
	for i := range s.list {
		if s.list[i].ID == p.ID {
			at = i
		}
	}
	if at < 0 && len(s.list) == maxStatuses {
		at = 0
	}
	if at >= 0 {
		s.list = append(s.list[:at], s.list[at+1:]...)
	}
	s.list = append(s.list, p)
	t.emit(Event{Kind: EventStatus})
}

// EndStatuses drops what does not outlive the program. The owner calls it when the program has ended.
func (t *Terminal) EndStatuses() { t.statuses.prompt(t) }

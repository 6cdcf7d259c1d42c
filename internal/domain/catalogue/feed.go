package catalogue

import (
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

// Update is one part of what a daemon tells of its list: revision Base turns into Base+1 when all parts have come.
type Update struct {
	Base     uint64
	Sessions []domain.SessionInfo
	Gone     []domain.SessionID
	More     bool
}

// Feed puts together what one daemon tells in one conversation. Its zero value has heard nothing.
type Feed struct {
	revision uint64
	sessions []domain.SessionInfo
	gone     []domain.SessionID
}

// Take takes one part in. Done: an update is complete, and is the whole list if it is the first (whole), else what has
// changed. The fault is a Violation: something is missing, or there is too much of it; the conversation is of no use then.
func (f *Feed) Take(u Update) (sessions []domain.SessionInfo, gone []domain.SessionID, whole, done bool, err error) {
	switch {
	case u.Base != f.revision:
		return nil, nil, false, false, fault.New(fault.Violation, "an update of revision %d of the list came, and %d is there", u.Base, f.revision)
	case len(f.sessions)+len(u.Sessions) > MaxSessions || len(f.gone)+len(u.Gone) > MaxSessions:
		return nil, nil, false, false, fault.New(fault.Violation, "an update of the list has more than %d sessions", MaxSessions)
	}
	f.sessions = append(f.sessions, u.Sessions...)
	f.gone = append(f.gone, u.Gone...)
	if u.More {
		return nil, nil, false, false, nil
	}
	sessions, gone, whole = f.sessions, f.gone, f.revision == 0
	f.sessions, f.gone = nil, nil
	f.revision++
	return sessions, gone, whole, true, nil
}

package sessionwire

import (
	"math"
	"time"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// The files fields*.go describe each message of session.proto but the hot ones once, for both
// directions. Written is what check.go has passed, read what its shape has passed.

func visitSize(f *wirefmt.Fields, s *domain.Size) {
	wirefmt.Uint32(f, 1, &s.Cols)
	wirefmt.Uint32(f, 2, &s.Rows)
}

// size is not sent where it is zero.
func size(f *wirefmt.Fields, num wirefmt.Number, s *domain.Size) {
	wirefmt.Message(f, num, *s != domain.Size{}, s, visitSize)
}

// visitExit takes a signal that no system has for an impossible one, which the checks refuse.
func visitExit(f *wirefmt.Fields, e *domain.ExitStatus) {
	wirefmt.Int32(f, 1, &e.Code)
	wirefmt.Uint32(f, 2, &e.Signal)
}

func exit(f *wirefmt.Fields, num wirefmt.Number, e *domain.ExitStatus) {
	wirefmt.Message(f, num, *e != domain.ExitStatus{}, e, visitExit)
}

// visitFailure takes a code of a newer peer for Internal: nobody here can act on it.
func visitFailure(f *wirefmt.Fields, m *protocol.Failure) {
	code := uint32(m.Kind)
	if wirefmt.Uint32(f, 1, &code) {
		m.Kind = fault.Internal
		if code <= 0xff && fault.Kind(code).Valid() {
			m.Kind = fault.Kind(code)
		}
	}
	wirefmt.Text(f, 2, &m.Text)
	wirefmt.Text(f, 3, &m.Hint)
}

// identifier is one that has one length only.
func identifier[T ~[idBytes]byte](f *wirefmt.Fields, num wirefmt.Number, what string, to *T) {
	n, taken := wirefmt.Exact(f, num, (*to)[:])
	switch {
	case taken:
		f.Note(num, checkIdentifier(what, n))
	case f.Missed(num):
		f.Refuse(checkIdentifier(what, 0))
	}
}

func checkIdentifier(what string, n int) error {
	if n != idBytes {
		return broken("%s has %d bytes, must have %d", what, n, idBytes)
	}
	return nil
}

// sessionState checks before it narrows.
func sessionState(f *wirefmt.Fields, num wirefmt.Number, s *domain.SessionState) {
	raw := uint32(*s)
	if wirefmt.Uint32(f, num, &raw) {
		*s = domain.SessionState(raw)
		f.Note(num, checkRange("session state", int64(raw), int64(domain.Running), int64(domain.Exited)))
	}
}

// sizePolicy checks before it narrows.
func sizePolicy(f *wirefmt.Fields, num wirefmt.Number, p *domain.SizePolicy) {
	raw := uint32(*p)
	if wirefmt.Uint32(f, num, &raw) {
		*p = domain.SizePolicy(min(raw, math.MaxUint8))
		f.Note(num, checkPolicy(*p))
	}
}

func visitOrigin(f *wirefmt.Fields, o *domain.Origin) {
	wirefmt.Text(f, 1, &o.Terminal)
	wirefmt.Text(f, 2, &o.Host)
	wirefmt.Uint32(f, 3, &o.Pid)
}

// origin is not sent where it is empty.
func origin(f *wirefmt.Fields, num wirefmt.Number, o *domain.Origin) {
	wirefmt.Message(f, num, *o != domain.Origin{}, o, visitOrigin)
}

// toMS rounds up, so that the shortest time does not become none.
func toMS(d time.Duration) uint64 {
	return uint64((d + time.Millisecond - 1) / time.Millisecond)
}

// fromMS bounds before it multiplies.
func fromMS(what string, ms uint64) (time.Duration, error) {
	if most := uint64(protocol.MaxWait / time.Millisecond); ms > most {
		return 0, &breach{limit: true, msg: what + " is over the limit of " + protocol.MaxWait.String()}
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// unixMS gives 0 for the zero time, which means "never".
func unixMS(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromUnixMS(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func moment(f *wirefmt.Fields, num wirefmt.Number, t *time.Time) {
	ms := unixMS(*t)
	if wirefmt.Uint64(f, num, &ms) {
		*t = fromUnixMS(ms)
	}
}

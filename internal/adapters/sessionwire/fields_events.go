package sessionwire

import (
	"math"
	"time"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

func visitWatchEvents(f *wirefmt.Fields, m *protocol.WatchEvents) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Uint64(f, 2, &m.Since)
	wirefmt.Bool(f, 3, &m.Live)
	wirefmt.Uint64(f, 4, &m.Types)
}

func visitWatchedEvents(f *wirefmt.Fields, m *protocol.WatchedEvents) {
	wirefmt.Messages(f, 1, &m.Events, nil, visitSessionEvent)
	wirefmt.Uint64(f, 2, &m.Gap.From)
	wirefmt.Uint64(f, 3, &m.Gap.To)
	wirefmt.Uint64(f, 4, &m.Last)
}

// visitSessionEvent leaves the type of an event of a newer peer zero.
func visitSessionEvent(f *wirefmt.Fields, e *domain.Event) {
	wirefmt.Uint64(f, 1, &e.Seq)
	us := unixUS(e.At)
	if wirefmt.Uint64(f, 2, &us) {
		e.At = time.Time{}
		if us != 0 {
			e.At = time.UnixMicro(us).UTC()
		}
	}
	identifier(f, 3, "session id of event", &e.Session)
	wirefmt.Text(f, 4, &e.Name)
	raw := uint32(e.Type)
	if wirefmt.Uint32(f, 5, &raw) {
		e.Type = 0
		if raw <= math.MaxUint8 && domain.EventType(raw).Valid() {
			e.Type = domain.EventType(raw)
		}
	}
	wirefmt.Text(f, 6, &e.Title)
	wirefmt.Text(f, 7, &e.Text)
	wirefmt.Int32(f, 8, &e.Count)
	wirefmt.Uint64(f, 9, &e.Client)
	size(f, 10, &e.Size)
	wirefmt.Bool(f, 11, &e.HasStatus)
	wirefmt.Int32(f, 12, &e.Status)
	took(f, 13, &e.Took)
}

// unixUS gives 0 for the zero time.
func unixUS(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// took is a duration in whole ms; one that is not possible is the longest that is.
func took(f *wirefmt.Fields, num wirefmt.Number, d *time.Duration) {
	ms := uint64(*d / time.Millisecond)
	if wirefmt.Uint64(f, num, &ms) {
		*d = time.Duration(min(ms, maxTookMS)) * time.Millisecond
	}
}

// maxTookMS is the longest duration that is told, in ms.
const maxTookMS = uint64(math.MaxInt64 / time.Millisecond)

func visitAwait(f *wirefmt.Fields, m *protocol.Await) {
	wirefmt.Text(f, 1, &m.Session)
	wirefmt.Text(f, 2, &m.Text)
	ms := toMS(m.Idle)
	if wirefmt.Uint64(f, 3, &ms) {
		idle, err := fromMS("idle time", ms)
		m.Idle = idle
		f.Note(3, err)
	}
	wirefmt.Bool(f, 4, &m.Exit)
	wirefmt.Bool(f, 5, &m.Prompt)
	wirefmt.Bool(f, 6, &m.Changed)
	wirefmt.Uint64(f, 7, &m.Events)
	wirefmt.Uint32(f, 8, &m.States)
	wirefmt.Uint64(f, 9, &m.Since)
}

func visitAwaited(f *wirefmt.Fields, m *protocol.Awaited) {
	wirefmt.Text(f, 1, &m.Met)
	wirefmt.Text(f, 2, &m.Match)
	exit(f, 3, &m.Exit)
	wirefmt.Optional(f, 4, &m.Event, visitSessionEvent)
	condition(f, 5, &m.Condition)
	wirefmt.Uint64(f, 6, &m.Generation)
	wirefmt.Uint64(f, 7, &m.Last)
}

// condition is not sent where nothing is known of it.
func condition(f *wirefmt.Fields, num wirefmt.Number, c *domain.Condition) {
	wirefmt.Message(f, num, *c != domain.Condition{}, c, visitCondition)
}

// visitCondition takes an activity of a newer peer for the one that says the least.
func visitCondition(f *wirefmt.Fields, c *domain.Condition) {
	raw := uint32(c.Activity)
	if wirefmt.Uint32(f, 1, &raw) {
		c.Activity = domain.Working
		if raw <= math.MaxUint8 && domain.Activity(raw).Valid() {
			c.Activity = domain.Activity(raw)
		}
	}
	wirefmt.Text(f, 2, &c.Reason)
	moment(f, 3, &c.Since)
}

package sessionwire

import (
	"time"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

func visitWatch(f *wirefmt.Fields, m *protocol.Watch) {
	wirefmt.Optional(f, 1, &m.Catalogue, wirefmt.Empty)
	wirefmt.Optional(f, 2, &m.Events, visitWatchEvents)
	wirefmt.Optional(f, 3, &m.Previews, visitWatchPreviews)
}

func visitWatchPreviews(f *wirefmt.Fields, m *protocol.WatchPreviews) {
	identifier(f, 1, "session id of previews", &m.Session)
	size(f, 2, &m.Size)
	ms := uint32(toMS(m.Interval))
	if wirefmt.Uint32(f, 3, &ms) {
		m.Interval = time.Duration(ms) * time.Millisecond
	}
}

func visitPreview(f *wirefmt.Fields, m *protocol.Preview) {
	wirefmt.Uint64(f, 1, &m.Sequence)
	wirefmt.Data(f, 2, &m.Content)
	wirefmt.Bool(f, 3, &m.Ended)
}

func visitWatching(f *wirefmt.Fields, m *protocol.Watching) {
	wirefmt.Optional(f, 1, &m.Catalogue, visitAnswer)
	wirefmt.Optional(f, 2, &m.Events, visitAnswer)
	wirefmt.Optional(f, 3, &m.Previews, visitAnswer)
}

func visitAnswer(f *wirefmt.Fields, m *protocol.WatchAnswer) {
	wirefmt.Optional(f, 1, &m.Failure, visitFailure)
}

func visitUpdate(f *wirefmt.Fields, m *protocol.CatalogueUpdate) {
	wirefmt.Uint64(f, 1, &m.Base)
	wirefmt.Uint64(f, 2, &m.Revision)
	wirefmt.Messages(f, 3, &m.Sessions, nil, visitRow)
	identifiers(f, 4, "id of a session that is gone", &m.Gone)
	wirefmt.Bool(f, 5, &m.More)
}

// identifiers is a repeated field of those that have one length only.
func identifiers(f *wirefmt.Fields, num wirefmt.Number, what string, list *[]domain.SessionID) {
	if f.Writing() {
		for i := range *list {
			wirefmt.Exact(f, num, (*list)[i][:])
		}
		return
	}
	var id domain.SessionID
	if n, taken := wirefmt.Exact(f, num, id[:]); taken {
		if err := checkIdentifier(what, n); err != nil {
			f.Refuse(err)
			return
		}
		*list = append(*list, id)
	}
}

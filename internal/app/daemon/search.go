package daemon

import (
	"context"
	"math"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// find is the server's side of a search in scroll mode. It holds the session's lock for one budget at a time, so that a
// key's way never waits for more. What was searched once is not searched again around the other end.
func (s *session) find(ctx context.Context, b *protocol.Search) (*protocol.Found, error) {
	if b.Pane != 0 && b.Pane != mainPane {
		return nil, noPane(b.Pane)
	}
	search, err := vt.NewSearch(b.Pattern)
	if err != nil {
		return nil, err
	}
	began := vt.Place{Line: b.Line, Col: b.Col}
	step, otherEnd := search.Down, vt.Place{}
	isPast := func(p vt.Place) bool { return began.Before(p) }
	if b.Backward {
		step, otherEnd = search.Up, vt.Place{Line: math.MaxUint64}
		isPast = func(p vt.Place) bool { return p.Before(began) }
	}
	around := false
	for from := began; ; {
		s.mu.Lock()
		found := step(s.term, from, vt.SearchBudget)
		s.mu.Unlock()
		switch {
		case found.More && !(around && isPast(found.Next)):
			from = found.Next
		case b.Around && !around && !found.OK:
			around, from = true, otherEnd
		default:
			return &protocol.Found{Met: found.OK, Line: found.Match.From.Line, Col: found.Match.From.Col, Around: around}, nil
		}
		if ctx.Err() != nil {
			return nil, waited(ctx)
		}
	}
}

func noPane(n uint64) error {
	return fault.New(fault.NotFound, "no pane %d", n).WithHint("the only pane is %d", mainPane)
}

package daemon

import (
	"context"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// find is the server's side of a search in scroll mode. It holds the session's lock for one budget at a time, so that a
// key's way never waits for more.
func (s *session) find(ctx context.Context, b *protocol.Search) (*protocol.Found, error) {
	if b.Pane != 0 && b.Pane != mainPane {
		return nil, noPane(b.Pane)
	}
	search, err := vt.NewSearch(b.Pattern)
	if err != nil {
		return nil, err
	}
	step := search.Down
	if b.Backward {
		step = search.Up
	}
	from := vt.Place{Line: b.Line, Col: b.Col}
	for {
		s.mu.Lock()
		found := step(s.term, from, vt.SearchBudget)
		s.mu.Unlock()
		if !found.More {
			return &protocol.Found{Met: found.OK, Line: found.Match.From.Line, Col: found.Match.From.Col}, nil
		}
		if ctx.Err() != nil {
			return nil, waited(ctx)
		}
		from = found.Next
	}
}

func noPane(n uint64) error {
	return fault.New(fault.NotFound, "no pane %d", n).WithHint("the only pane is %d", mainPane)
}

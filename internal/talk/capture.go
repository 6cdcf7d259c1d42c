package talk

import (
	"slices"

	"github.com/vev-term/vev/internal/protocol"
)

// Capture gets the screen of a session, and the history above it in as many requests as that takes. Lines
// are asked for by number, so what scrolls meanwhile makes neither a gap nor a repeat.
func (t *Talk) Capture(session string, history int) (*protocol.Captured, error) {
	answer, err := BodyOf[*protocol.Captured](t.Ask(0, &protocol.Capture{Session: session, HistoryLines: history}))
	if err != nil {
		return nil, err
	}
	screen := *answer
	screen.Modes = slices.Clone(answer.Modes)
	screen.Lines.List = keep(answer.Lines.List)
	if !answer.Lines.More {
		return &screen, nil
	}
	older, err := t.olderLines(session, screen.Lines.First, history-(len(screen.Lines.List)-screen.Size.Rows))
	if err != nil {
		return nil, err
	}
	if len(older) > 0 {
		screen.Lines.First = older[0].N
		screen.Lines.List = append(older, screen.Lines.List...)
	}
	return &screen, nil
}

// olderLines gets up to count lines that end before line end, oldest first.
func (t *Talk) olderLines(session string, end uint64, count int) ([]protocol.Line, error) {
	var parts [][]protocol.Line
	for count > 0 && end > 0 {
		n := min(uint64(count), protocol.MaxHistoryLines, end)
		answer, err := BodyOf[*protocol.Lines](t.Ask(0, &protocol.History{Session: session, First: end - n, Count: int(n)}))
		if err != nil {
			return nil, err
		}
		part := keep(answer.List)
		for len(part) > 0 && part[len(part)-1].N >= end {
			part = part[:len(part)-1]
		}
		if len(part) == 0 {
			break
		}
		parts = append(parts, part)
		count -= len(part)
		if part[0].N != end-n {
			break // older lines are not kept any more
		}
		end = part[0].N
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), nil
}

// keep copies lines out of an answer, which is valid until the next one only.
func keep(lines []protocol.Line) []protocol.Line {
	kept := slices.Clone(lines)
	for i := range kept {
		kept[i].Runs = slices.Clone(kept[i].Runs)
	}
	return kept
}

package client

import (
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// view is the client's end of the output chain (docs/protocol.md, Output): the last applied state and the screen in it.
type view struct {
	epoch, state uint64 // state 0: none, only a full one is taken
	events       uint64 // number of the last event delivered
	pane         uint64
	term         *vt.Terminal // nil before the first state
	policy       domain.SizePolicy
	first, top   uint64 // numbers of the oldest line kept and of the screen's first
	main         uint64 // counts what the main screen has been
	// resizing is told before the session's screen takes another size, and begins at line top; may be nil.
	resizing func(was *view, size domain.Size, top uint64)
}

// restart makes the next state be a full one; what is shown stays.
func (v *view) restart() { v.state = 0 }

// apply turns the view into the state that out carries, if it carries one. An error changes nothing.
func (v *view) apply(out *protocol.Output) error {
	if out.New == 0 {
		if len(out.Panes) > 0 || out.Full {
			return fault.New(fault.Violation, "an output without state number has content")
		}
		return nil
	}
	if err := v.follows(out); err != nil {
		return err
	}
	if out.Layout != nil {
		v.policy = out.Layout.Policy
	}
	for i := range out.Panes {
		v.update(&out.Panes[i], out.Full)
	}
	v.epoch, v.state = out.Epoch, out.New
	return nil
}

// follows checks that out can be applied.
func (v *view) follows(out *protocol.Output) error {
	switch {
	case out.Full && out.Base != 0:
		return fault.New(fault.Violation, "full state %d has base %d", out.New, out.Base)
	case out.Full && len(out.Panes) != 1:
		return fault.New(fault.Violation, "full state has %d panes, must have 1", len(out.Panes))
	case !out.Full && (v.state == 0 || out.Epoch != v.epoch || out.Base != v.state || out.New != v.state+1):
		return fault.New(fault.Violation, "state %d of epoch %d has base %d, the last was %d of epoch %d",
			out.New, out.Epoch, out.Base, v.state, v.epoch)
	case len(out.Panes) > 1:
		return fault.New(fault.Violation, "state %d changes %d panes, there is 1", out.New, len(out.Panes))
	}
	for _, p := range out.Panes {
		if !p.Size.Valid() {
			return fault.New(fault.Violation, "pane %d has size %s", p.Pane, p.Size)
		}
		if !out.Full && p.Pane != v.pane {
			return fault.New(fault.Violation, "state %d changes pane %d, there is %d", out.New, p.Pane, v.pane)
		}
	}
	return nil
}

func (v *view) update(p *protocol.PaneUpdate, full bool) {
	resized := false
	if v.term != nil {
		cols, rows := v.term.Size()
		resized = cols != p.Size.Cols || rows != p.Size.Rows
	}
	if resized && v.resizing != nil {
		v.resizing(v, p.Size, p.ScreenTop)
	}
	switch {
	case full: // It is written for an engine that has seen nothing.
		v.pane, v.term = p.Pane, vt.New(vt.Options{Cols: p.Size.Cols, Rows: p.Size.Rows})
	case resized:
		v.term.Resize(p.Size.Cols, p.Size.Rows)
	}
	v.term.Write(p.Data)
	if full || resized || !v.term.Modes().Alternate {
		v.main++
	}
	v.first, v.top = p.FirstLine, p.ScreenTop
}

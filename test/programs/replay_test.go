//go:build linux

package programs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
)

func newEngine(r *recording) *vt.Terminal {
	s := r.steps[0].size
	return vt.New(vt.Options{Cols: s.Cols, Rows: s.Rows, HistoryLines: 1000})
}

// replay feeds the recording to an engine, in portions of what size says, and calls at after each step.
func (r *recording) replay(t *vt.Terminal, portion func() int, at func(s step)) {
	from := 0
	for _, s := range r.steps {
		t.Resize(s.size.Cols, s.size.Rows)
		for from < s.end {
			n := min(portion(), s.end-from)
			t.Write(r.bytes[from : from+n])
			t.TakeReplies()
			t.TakeEvents()
			from += n
		}
		at(s)
	}
}

func whole() int { return 1 << 30 }

// pictures are what the engine shows after each step.
func (r *recording) pictures(portion func() int) (all []string) {
	t := newEngine(r)
	r.replay(t, portion, func(step) { all = append(all, picture(t, true)+history(t)) })
	return all
}

// check holds the recording to what must be true of any: the portions make no difference, and painted terminals of every
// kind show the same, by differences and at once.
func (r *recording) check(t *testing.T) {
	t.Helper()
	want := r.pictures(whole)
	rnd := rand.New(rand.NewPCG(1, uint64(len(r.bytes))))
	for name, portion := range map[string]func() int{
		"single bytes": func() int { return 1 },
		"small":        func() int { return 1 + rnd.IntN(7) },
		"reads":        func() int { return 1 + rnd.IntN(4095) },
	} {
		got := r.pictures(portion)
		for i := range want {
			require.Equal(t, want[i], got[i], "%s, after %q", name, r.steps[i].what)
		}
	}
	e := newEngine(r)
	r.replay(e, whole, func(step) {})
	require.Equal(t, r.final.Lines, texts(e), "in the portions of the pty, live")
	for _, v := range viewers {
		r.paints(t, v)
	}
}

// viewer is a kind of terminal that is painted.
type viewer struct {
	name   string
	target render.Target
	caps   render.Capabilities
	styles bool // it can show them all
}

var viewers = []viewer{
	{"an engine", render.Canonical, render.Capabilities{}, true},
	{"an xterm", render.UserTerminal, render.Capabilities{}, true},
	{"a console", render.UserTerminal, render.Capabilities{Colors: render.Colors16, Basic: true}, false},
}

func (r *recording) paints(t *testing.T, v viewer) {
	t.Helper()
	e := newEngine(r)
	mirror := newEngine(r)
	p := render.NewPainter(v.target, v.caps)
	if v.target == render.UserTerminal {
		mirror.Write(p.Enter(nil))
	}
	var f render.Frame
	r.replay(e, whole, func(s step) {
		mirror.Resize(s.size.Cols, s.size.Rows)
		f.SetTerminal(e)
		mirror.Write(p.Paint(nil, &f))
		require.Equal(t, picture(e, v.styles), picture(mirror, v.styles), "%s, differences up to %q", v.name, s.what)

		fresh := vt.New(vt.Options{Cols: s.size.Cols, Rows: s.size.Rows})
		again := render.NewPainter(v.target, v.caps)
		if v.target == render.UserTerminal {
			fresh.Write(again.Enter(nil))
		}
		fresh.Write(again.Paint(nil, &f))
		require.Equal(t, picture(e, v.styles), picture(fresh, v.styles), "%s, painted at once at %q", v.name, s.what)
	})
}

// painted is what a painter writes for the steps of the recording.
func (r *recording) painted(v viewer) *recording {
	out := &recording{name: r.name + " painted for " + v.name, foreign: r.foreign, disputed: r.disputed}
	e := newEngine(r)
	p := render.NewPainter(v.target, v.caps)
	out.bytes = p.Enter(nil)
	var f render.Frame
	r.replay(e, whole, func(s step) {
		f.SetTerminal(e)
		out.bytes = p.Paint(out.bytes, &f)
		out.steps = append(out.steps, step{what: s.what, end: len(out.bytes), size: s.size})
	})
	return out
}

// picture tells text, styles and cursor.
func picture(t *vt.Terminal, styles bool) string {
	var b strings.Builder
	_, rows := t.Size()
	for y := range rows {
		cells := t.Row(y).Cells()
		fmt.Fprintf(&b, "%2d %s\n", y, strings.TrimRight(string(render.AppendCells(nil, t, cells)), " "))
		for _, r := range render.Runs(t, &vt.Line{Cells: cells}) {
			if styles {
				fmt.Fprintf(&b, "   %+v\n", r)
			}
		}
	}
	if c := t.Cursor(); c.Visible {
		fmt.Fprintf(&b, "cursor %d %d\n", c.Col, c.Row)
	}
	return b.String()
}

// texts are the rows' texts.
func texts(t *vt.Terminal) (all []string) {
	_, rows := t.Size()
	for y := range rows {
		all = append(all, strings.TrimRight(string(render.AppendCells(nil, t, t.Row(y).Cells())), " "))
	}
	return all
}

// history tells the lines above the screen, with their numbers.
func history(t *vt.Terminal) string {
	var b strings.Builder
	var l vt.Line
	for n := t.FirstLine(); n < t.ScreenTop(); n++ {
		t.ReadLine(n, &l)
		fmt.Fprintf(&b, "%d %v %s\n", n, l.Wrapped, render.AppendANSI(nil, t, &l, render.Capabilities{}))
	}
	return b.String()
}

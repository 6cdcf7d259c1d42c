package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/vt"
)

// inlineLaw checks that an inline painter shows each frame, and that the terminal's history gets the inserted lines in
// order, each once, and nothing else.
func inlineLaw(t *rapid.T, caps Capabilities) {
	draw := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
	cols, rows := draw(1, 20, "cols"), draw(1, 8, "rows")
	r := receiver{"inline", UserTerminal, caps}
	user := vt.New(vt.Options{Cols: cols, Rows: rows, HistoryLines: 10_000})
	above := draw(0, 12, "lines before")
	for range above {
		user.Write([]byte("$\r\n"))
	}
	src := vt.New(vt.Options{Cols: cols, Rows: rows})
	pad := vt.New(vt.Options{Cols: cols, Rows: 40})
	p := r.painter()
	p.Inline(rows)
	user.Write(p.Enter(nil))
	want := make([]string, above)
	for i := range want {
		want[i] = `0:"$" `
	}
	for range draw(1, 6, "steps") {
		in := outputs(t)
		src.Write([]byte(in))
		var f Frame
		f.SetTerminal(src)
		show := r.wants(&f)
		painted := p.Paint(nil, &f)
		user.Write(painted)
		if !src.Modes().Alternate && draw(0, 1, "insert") == 0 {
			pad.Write([]byte("\x1bc" + outputs(t) + "\x1b[?1049l"))
			n := draw(1, 40, "lines")
			for y := range n {
				want = append(want, describe(pad, pad.Row(y).Cells(), caps))
			}
			user.Write(p.Insert(nil, pad, n))
			painted = p.Paint(nil, &f)
			user.Write(painted)
		}
		if got := r.shows(user); !equalPictures(show, got) {
			t.Fatalf("difference %q after %q:\n%s", painted, in, compare(show, got))
		}
		require.Equal(t, src.Modes().Alternate, user.Modes().Alternate)
		var line vt.Line
		require.Equal(t, uint64(len(want)), user.ScreenTop())
		for i, w := range want {
			user.ReadLine(uint64(i), &line)
			require.Equal(t, w, describe(user, line.Cells, Capabilities{}), "line %d", i)
		}
	}
	user.Write(p.Leave(nil))
	require.False(t, user.Modes().Alternate)
	require.Equal(t, 0, user.Cursor().Col)
	for y := user.Cursor().Row; y < rows; y++ {
		require.Empty(t, describe(user, user.Row(y).Cells(), Capabilities{}))
	}
}

func TestInlineLaw(t *testing.T) {
	for _, r := range receivers[1:] {
		t.Run(r.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { inlineLaw(t, r.caps) })
		})
	}
}

func TestInsertedSoftWrapsAreOneLine(t *testing.T) {
	user := vt.New(vt.Options{Cols: 10, Rows: 4, HistoryLines: 100})
	src := vt.New(vt.Options{Cols: 10, Rows: 4})
	pad := vt.New(vt.Options{Cols: 10, Rows: 10})
	pad.Write([]byte("0123456789abcdefghijklmno\r\n0123456789\r\nx"))
	p := NewPainter(UserTerminal, Capabilities{})
	p.Inline(4)
	user.Write(p.Enter(nil))
	var f Frame
	f.SetTerminal(src)
	user.Write(p.Paint(nil, &f))
	user.Write(p.Insert(nil, pad, 5))
	var line vt.Line
	for n, wrapped := range []bool{true, true, false, false, false} {
		require.True(t, user.ReadLine(uint64(n), &line))
		require.Equal(t, wrapped, line.Wrapped, n)
	}
}

package client

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
)

// at attaches a terminal of that size to a daemon whose session does not follow it.
func at(t *testing.T, cols, rows int, f func(a *attachment)) {
	attached(t, func(a *attachment) { a.term = newFakeTerminal(cols, rows); a.opts.Terminal = a.term }, f)
}

func TestSmallerTerminalFollowsTheCursor(t *testing.T) {
	at(t, 8, 2, func(a *attachment) {
		a.daemon.prints("0123456789ABCDEFGHIJ\r\nrow two\r\nrow three\r\nrow four\r\nrow five")
		for _, c := range []struct {
			move, text string
			x, y       int
		}{
			{"", " four\n five\n", 3, 3}, // the cursor is behind "five"; not at the edge, so that the next keys do not move all
			{"\x1b[H", "01234567\nrow two\n", 0, 0},
			{"\x1b[1;12H", "6789ABCD\no\n", 6, 0},
			{"\x1b[1;14H", "6789ABCD\no\n", 6, 0}, // up to the edge nothing moves
			{"\x1b[1;8H", "6789ABCD\no\n", 6, 0},  // nor on the way back
			{"\x1b[1;6H", "3456789A\n two\n", 3, 0},
			{"\x1b[5;20H", "\n\n", 12, 3},
			{"\x1b[?25l\x1b[H", "01234567\nrow two\n", 0, 0},                                 // a program that prints without a cursor is followed
			{"\x1b[?1049h\x1b[2J\x1b[H0123456789ABCDEFGHIJ\x1b[5;20H", "01234567\n\n", 0, 0}, // one that draws is not
			{"\x1b[?25h", "\n\n", 12, 3},
		} {
			a.daemon.prints(c.move)
			synctest.Wait()
			require.Empty(t, a.difference(), c.move)
			require.Equal(t, c.text, a.term.text(), c.move)
			require.Equal(t, c.x, a.client.screen.composer.x, c.move)
			require.Equal(t, c.y, a.client.screen.composer.y, c.move)
		}
	})
}

// A wide character that the cursor is on is shown whole; one that the edge cuts is blank, and nothing beside it moves.
func TestWideCharactersAtTheEdgeOfAWindow(t *testing.T) {
	at(t, 6, 1, func(a *attachment) {
		a.daemon.prints("abcde\u5bbdfgh\x1b[H")
		synctest.Wait()
		require.Equal(t, "abcde\n", a.term.text(), "the edge cuts it")
		a.daemon.prints("\x1b[6G")
		synctest.Wait()
		require.Equal(t, "cde\u5bbdf\n", a.term.text(), "the cursor is on its first half")
		a.daemon.prints("\x1b[11G")
		synctest.Wait()
		require.Equal(t, " fgh\n", a.term.text(), "the other edge cuts it")
	})
}

// Typing along a line moves the window now and then, and each time it moves all rows are drawn.
func TestAWindowDoesNotMoveAtEachKey(t *testing.T) {
	at(t, 12, 4, func(a *attachment) {
		moves, x := 0, 0
		for range 19 {
			a.daemon.prints("x")
			synctest.Wait()
			if now := a.client.screen.composer.x; now != x {
				moves, x = moves+1, now
			}
		}
		require.Equal(t, 8, x, "the window shows the line's end")
		require.LessOrEqual(t, moves, 3)
	})
}

func TestFollow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all, visible := rapid.IntRange(1, 50).Draw(rt, "all"), rapid.IntRange(1, 50).Draw(rt, "visible")
		from, cursor := rapid.IntRange(0, 60).Draw(rt, "from"), rapid.IntRange(0, all-1).Draw(rt, "cursor")
		last := min(cursor+rapid.IntRange(0, 1).Draw(rt, "wide"), all-1)
		step := rapid.IntRange(0, visible/sideStep).Draw(rt, "step")
		from = within(from, visible, all)
		got := within(follow(from, cursor, last, visible, step), visible, all)
		switch {
		case got < 0, cursor < got, cursor >= got+visible, visible > 1 && last >= got+visible:
			rt.Fatalf("window %d does not show %d to %d", got, cursor, last)
		case visible >= all && got != 0, visible < all && got+visible > all:
			rt.Fatalf("window %d is outside", got)
		case cursor >= from && last < from+visible && got != from:
			rt.Fatalf("window moved from %d to %d for nothing", from, got)
		}
	})
}

// A terminal that is larger than the session shows a dim border, and is told why, once and not for a moment's difference.
func TestLargerTerminalHasABorder(t *testing.T) {
	at(t, 80, 12, func(a *attachment) {
		synctest.Wait()
		a.daemon.prints("\x1b[2J\x1b[Habc")
		synctest.Wait()
		lines := strings.Split(a.term.text(), "\n")
		cols, rows := a.daemon.size()
		require.Equal(t, "abc"+strings.Repeat(" ", cols-3)+strings.Repeat(".", 80-cols), lines[0])
		require.Equal(t, strings.Repeat(".", 80), lines[rows])
		edge := a.term.vt.Row(0).Cells()[cols]
		require.Equal(t, vt.Dim, edge.Attrs())
		require.Equal(t, strings.Repeat(".", 80), lines[11], "no text beside it at once")
		time.Sleep(borderNoticeAfter + time.Millisecond)
		synctest.Wait()
		require.Contains(t, a.term.text(), "the session is 20x5, as the client used last: type to fit it here")
		time.Sleep(briefNotice)
		synctest.Wait()
		require.NotContains(t, a.term.text(), "the session is")
		a.daemon.resize(30, 6)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.NotContains(t, a.term.text(), "the session is", "it was told")
		lines = strings.Split(a.term.text(), "\n")
		require.Equal(t, "abc"+strings.Repeat(" ", 27)+strings.Repeat(".", 50), lines[0], "the border moves with the session")
		require.Empty(t, a.difference())
	})
}

func TestReasonsOfSizes(t *testing.T) {
	size := domain.Size{Cols: 80, Rows: 24}
	for _, c := range []struct {
		policy   domain.SizePolicy
		readOnly bool
		want     string
	}{
		{domain.SizeLatest, false, "the session is 80x24, as the client used last: type to fit it here"},
		{domain.SizeLatest, true, "the session is 80x24, as the client used last"},
		{domain.SizeSmallest, false, "the session is 80x24, as its smallest client"},
		{domain.SizeLargest, true, "the session is 80x24, as its largest client"},
		{domain.SizeFixed, false, "the session is 80x24, fixed: vev resize changes it"},
	} {
		require.Equal(t, c.want, sizeReason(c.policy, size, c.readOnly))
	}
}

// Focus goes to the daemon, not to the program; a read-only client's terminal is not asked for it.
func TestFocusIsTheDaemons(t *testing.T) {
	at(t, 80, 24, func(a *attachment) {
		synctest.Wait()
		require.True(t, a.term.vt.Modes().FocusEvents, "whatever the program asked for")
		a.types("a\x1b[Ob\x1b[Ic\x1c\x1b[O\x1c")
		synctest.Wait()
		require.Equal(t, "abc\x1c", a.daemon.typed())
		require.Equal(t, []bool{false, true, false}, a.daemon.focus())
		a.daemon.cut(true)
		synctest.Wait()
		require.Equal(t, []bool{false, true, false, false}, a.daemon.focus(), "told again")
		a.types("\x1b")
		synctest.Wait()
		a.types("[I")
		synctest.Wait()
		require.Equal(t, "abc\x1c\x1b[I", a.daemon.typed(), "what passed already is not left without its end")
		require.Equal(t, []bool{false, true, false, false, true}, a.daemon.focus())
	})
	attached(t, func(a *attachment) { a.opts.Attach.ReadOnly = true }, func(a *attachment) {
		a.types("\x1b[I")
		synctest.Wait()
		require.False(t, a.term.vt.Modes().FocusEvents)
		require.Empty(t, a.daemon.focus())
	})
}

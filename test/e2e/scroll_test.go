//go:build linux

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// keysOfScroll begin scroll mode.
const keysOfScroll = "\x1c["

// TestMust8AMillionLines: with a million lines of history the top is there at once, a search over all of them takes less
// than 200 ms, and memory stays within its limits. The times are told; what is required of them here leaves room for a
// machine that does other things.
func TestMust8AMillionLines(t *testing.T) {
	h := newHome(t)
	h.ok("new", "big", "-d", "--history", "1000000", "--size", "80x24", "--", "sh", "-c", "seq 1000100; exec cat")
	h.waitText("big", "^1000100$")
	tt := newTerm(t, 80, 24)
	at := time.Now()
	p := tt.vev(h, "attach", "big")
	tt.sees("1000100\n")
	attached := time.Since(at)
	tt.typ(keysOfScroll)
	tt.sees("[0/")
	at = time.Now()
	tt.typ("g")
	tt.sees("\n100\n101")
	top := time.Since(at)
	at = time.Now()
	tt.typ("/99999[5]\r")
	tt.sees("\n999995\n")
	search := time.Since(at)
	at = time.Now()
	tt.typ("?^NOTHING like it\r")
	tt.sees("no match")
	nothing := time.Since(at)
	_, daemon := h.stats()
	t.Logf("attach %s, to the top %s, search to the end %s, for nothing %s; heap %d MB", attached, top, search, nothing, daemon.HeapBytes>>20)
	require.Less(t, top, 2*time.Second)
	require.Less(t, search, 5*time.Second)
	require.Less(t, daemon.HeapBytes, uint64(200<<20))
	tt.typ("q\x1cd")
	require.Zero(t, p.exits())
}

// TestScrollModeCopies: through OSC 52 and through the user's command, soft-wrapped lines as one.
func TestScrollModeCopies(t *testing.T) {
	h := newHome(t)
	to := h.path("copied")
	h.configure(fmt.Sprintf("copy_command = [\"sh\", \"-c\", 'cat >\"$1\"', \"sh\", %q]\n", to))
	long := strings.Repeat("0123456789", 7)
	h.sh("w", "printf '%s  \\n' "+long+"; exec cat")
	h.waitText("w", "^0123")
	tt := newTerm(t, 40, 10)
	p := tt.vev(h, "attach", "w")
	tt.sees("0123456789")
	tt.until("the mouse to be ours", func(s *vt.Terminal) bool { return s.Modes().Mouse == vt.MouseButton })
	tt.typ("\x1b[<0;1;1M\x1b[<0;1;1m\x1b[<0;1;1M\x1b[<0;1;1m\x1b[<0;1;1M\x1b[<0;1;1m")
	tt.gets("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(long+"\n")) + "\a")
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(to)
		return string(text) == long+"\n"
	}, 10*time.Second, 10*time.Millisecond)
	tt.typ("\x1cd")
	require.Zero(t, p.exits())
}

// inOrder waits until the terminal's history and screen hold all lines, in order, each once.
func (tt *term) inOrder(lines []string) {
	tt.t.Helper()
	want := strings.Join(lines, "\n")
	tt.until("each line once, in order", func(s *vt.Terminal) bool { return strings.Contains(allText(s), want) })
	tt.look(func(s *vt.Terminal) {
		all := allText(s)
		require.Equal(tt.t, strings.Index(all, want), strings.LastIndex(all, want))
	})
}

// allText is history and screen as text.
func allText(s *vt.Terminal) string {
	var b strings.Builder
	var line vt.Line
	for n := s.FirstLine(); n < s.ScreenTop(); n++ {
		s.ReadLine(n, &line)
		var text []byte
		for _, c := range line.Cells {
			text = s.AppendCell(text, c)
		}
		b.WriteString(strings.TrimRight(string(text), " ") + "\n")
	}
	return b.String() + textOf(s)
}

// TestInline: all lines of a new session are in the terminal's own history, a full-screen program is on its other screen, and the
// next program begins below.
func TestInline(t *testing.T) {
	h := newHome(t)
	tt := newTerm(t, 80, 24)
	p := tt.vev(h, "new", "w", "--inline", "--", "sh", "-c",
		`seq 3000; read x; printf '\033[?1049h\033[2J\033[Hfull screen'; read x; printf '\033[?1049l'; seq 3001 3050; read x; seq 3051 3100; exit 3`)
	lines := make([]string, 3000)
	for i := range lines {
		lines[i] = fmt.Sprint(i + 1)
	}
	tt.inOrder(lines)
	tt.typ("\r")
	tt.sees("full screen")
	tt.look(func(s *vt.Terminal) { require.True(t, s.Modes().Alternate) })
	tt.typ("\r")
	tt.sees("3050\n")
	tt.look(func(s *vt.Terminal) { require.False(t, s.Modes().Alternate) })
	tt.typ("\x1cd")
	require.Zero(t, p.exits())
	tt.sees("detached from session w")

	other := newTerm(t, 80, 10)
	p = other.vev(h, "attach", "w", "--inline")
	other.sees("3050\n")
	other.typ("\r")
	require.Equal(t, 3, p.exits())
	last := make([]string, 0, 60)
	for i := 3042; i <= 3050; i++ {
		last = append(last, fmt.Sprint(i))
	}
	other.until("the last word", func(s *vt.Terminal) bool { return strings.Contains(allText(s), "3099\n3100\nsession w ended") })
	other.look(func(s *vt.Terminal) {
		require.Contains(t, allText(s), strings.Join(last, "\n"))
	})
}

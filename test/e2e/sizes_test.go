//go:build linux

package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/vt"
)

// picture fills a screen, each place with something else than its neighbours and some of it wide, and puts the cursor at
// a place, counted from 0.
func picture(size domain.Size, col, row int) string {
	var b strings.Builder
	b.WriteString("\x1b[m\x1b[2J")
	for y := range size.Rows {
		fmt.Fprintf(&b, "\x1b[%dH\x1b[3%dm", y+1, 1+y%7)
		for x := 0; x < size.Cols; x++ {
			if (x+3*y)%11 == 5 && x+1 < size.Cols {
				b.WriteRune('\u4e00' + rune(x+y))
				x++
				continue
			}
			b.WriteByte(byte('A' + (x+7*y)%50))
		}
	}
	fmt.Fprintf(&b, "\x1b[%d;%dH", row+1, col+1)
	return b.String()
}

// shows reports whether the terminal shows a picture of a session: the window with the cursor, and a border.
func shows(s, model *vt.Terminal) bool {
	if !s.Cursor().Visible {
		return false
	}
	cols, rows := s.Size()
	mcols, mrows := model.Size()
	x0, y0 := model.Cursor().Col-s.Cursor().Col, model.Cursor().Row-s.Cursor().Row
	if x0 < 0 || y0 < 0 || x0 > max(0, mcols-cols) || y0 > max(0, mrows-rows) {
		return false
	}
	for y := range rows {
		if y == rows-1 && strings.HasPrefix(rowText(s, y), " the session is ") {
			continue // for a while
		}
		for x := range cols {
			got := s.Row(y).Cells()[x]
			if x+x0 >= mcols || y+y0 >= mrows {
				if got.Rune() != '.' || got.Attrs() != vt.Dim {
					return false
				}
				continue
			}
			want := model.Row(y + y0).Cells()[x+x0]
			if x == 0 && want.IsSpacer() || x == cols-1 && want.IsWide() {
				want = want.Erased()
			}
			if got.Rune() != want.Rune() && !(got.IsBlank() && want.IsBlank()) || s.Style(got) != model.Style(want) && !want.IsBlank() {
				return false
			}
		}
	}
	return true
}

// TestMust7PoliciesOfThreeClients: 200x50, 80x24 and 45x20 on one session, under each policy: the session has the right
// size, and each terminal the right picture, wherever the cursor is.
func TestMust7PoliciesOfThreeClients(t *testing.T) {
	h := newHome(t)
	sizes := []domain.Size{{Cols: 200, Rows: 50}, {Cols: 80, Rows: 24}, {Cols: 45, Rows: 20}}
	h.sh("x", `stty -echo; echo ready; while read f; do [ -n "$f" ] && cat "$f"; done`)
	var terms []*term
	for _, size := range sizes {
		tt := newTerm(t, size.Cols, size.Rows)
		tt.vev(h, "attach", "x")
		tt.sees("ready")
		terms = append(terms, tt)
	}
	terms[0].sees("the session is 45x20, as the client used last: type to fit it here")
	drawn := 0
	right := func(what string, size domain.Size) {
		t.Helper()
		eventually(t, what+": "+size.String(), func() bool {
			s := h.session("x")
			return s.Cols == size.Cols && s.Rows == size.Rows
		})
		for _, at := range [][2]int{{0, 0}, {size.Cols - 1, size.Rows - 1}, {size.Cols / 2, size.Rows / 3}, {0, size.Rows - 1}} {
			drawn++
			name := "picture" + strconv.Itoa(drawn)
			h.write(name, []byte(picture(size, at[0], at[1])))
			h.ok("send", "x", name)
			h.ok("key", "x", "Enter")
			model := vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows})
			_, _ = model.Write([]byte(picture(size, at[0], at[1])))
			for i, tt := range terms {
				tt.until(fmt.Sprintf("%s: client %s of a session %s with the cursor at %v", what, sizes[i], size, at),
					func(s *vt.Terminal) bool { return shows(s, model) })
			}
		}
	}
	right("attached last", sizes[2])
	for i, tt := range terms {
		tt.typ("\r")
		right("typed last", sizes[i])
	}
	terms[1].typ("\x1b[I")
	right("focused", sizes[1])
	terms[0].typ("\x1b[O")
	right("the focus was lost elsewhere", sizes[1])
	h.ok("resize", "x", "smallest")
	terms[0].sees("the session is 45x20, as its smallest client") // for three seconds, a second after it became so
	right("smallest", sizes[2])
	h.ok("resize", "x", "largest")
	right("largest", sizes[0])
	h.ok("resize", "x", "100x30")
	terms[0].sees("the session is 100x30, fixed: vev resize changes it")
	right("fixed", domain.Size{Cols: 100, Rows: 30})
	terms[2].typ("\r")
	right("fixed, and typed in", domain.Size{Cols: 100, Rows: 30})
}

// stoppedFor is how long a client is stopped, unless VEV_E2E_STOPPED says another time. Nothing that is checked depends
// on it: what would grow, grows with each state that is sent, 120 of them a second.
const stoppedFor = 3 * time.Second

// TestMust7StoppedClient: a client that is stopped (SIGSTOP) while its session prints at full speed costs the daemon no
// memory and the others nothing, and is right at once when it goes on.
func TestMust7StoppedClient(t *testing.T) {
	h := newHome(t)
	span := stoppedFor
	if text := os.Getenv("VEV_E2E_STOPPED"); text != "" {
		var err error
		span, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	h.ok("new", "echo", "-d", "--", "cat")
	sibling := newTerm(t, 80, 24)
	sibling.vev(h, "attach", "echo")
	eventually(t, "attached", func() bool { return h.session("echo").Attached == 1 })
	echoLatency(sibling) // the first finds cold caches

	beside := newTerm(t, 80, 24)
	shell(t, h, beside)
	stopped := newTerm(t, 80, 24)
	client := stopped.vev(h, "attach", "sh")
	stopped.sees("$")
	beside.typ("yes \"$(printf '%070d' 7)\"\r")
	flooded := func(s *vt.Terminal) bool { return strings.HasSuffix(rowText(s, 20), "00007") }
	stopped.until("a flood", flooded)
	flooding := echoLatency(sibling)
	h.ok("wait", "sh", "--text", "07", "--timeout", "5s")

	client.signal(syscall.SIGSTOP)
	daemon := h.one("_daemon")
	for h.session("sh").Attached != 2 {
		t.Fatal("a client that is stopped is attached")
	}
	least, most := 1<<62, 0
	var latency time.Duration
	for end := time.Now().Add(span); time.Now().Before(end); {
		latency = max(latency, echoLatency(sibling))
		now := memory(t, daemon)
		least, most = min(least, now), max(most, now)
	}
	seen := beside.got()
	beside.until("states", func(*vt.Terminal) bool { return beside.total > seen })
	before := stopped.got()
	start := time.Now()
	beside.typ("\x03")
	beside.until("the prompt", func(s *vt.Terminal) bool { return rowText(s, s.Cursor().Row) == "$" })
	prompt := time.Since(start)
	beside.typ("echo all ov''er\r")
	beside.sees("all over\n$")

	start = time.Now()
	client.signal(syscall.SIGCONT)
	stopped.sees("all over\n$")
	back := time.Since(start)
	h.ok("wait", "sh", "--idle", "300ms")
	bytes := stopped.got() - before
	fresh := newTerm(t, 80, 24)
	fresh.vev(h, "attach", "sh", "--read-only")
	fresh.sees("all over\n$")
	full := fresh.got()
	t.Logf("stopped for %v: daemon %.1f to %.1f MB; echo beside a flood %v, with the stopped client at most %v; Ctrl-C to prompt %v; "+
		"right %v after SIGCONT with %d bytes, a fresh attach takes %d",
		span, float64(least)/1e6, float64(most)/1e6, flooding, latency, prompt, back, bytes, full)
	require.Less(t, most-least, 8_000_000, "bytes of the daemon's memory")
	require.Less(t, latency, 2*flooding+busy)
	require.Less(t, prompt, 100*time.Millisecond+busy)
	require.Less(t, bytes, 2*full, "what was missed is not drawn")
	require.Equal(t, textsOf(beside), textsOf(stopped))
}

func textsOf(tt *term) []string { return strings.Split(tt.text(), "\n") }

// memory is what a process has in memory now, in bytes.
func memory(t *testing.T, pid int) int {
	t.Helper()
	fields := strings.Fields(procFile(pid, "statm"))
	require.Greater(t, len(fields), 1, "process %d", pid)
	pages, err := strconv.Atoi(fields[1])
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

// TestTakeFromAStoppedClient: whoever takes a session has it, also from a client that cannot hear that; it is told when
// it can.
func TestTakeFromAStoppedClient(t *testing.T) {
	h := newHome(t)
	h.sh("x", "echo ready; exec cat")
	old := newTerm(t, 60, 20)
	taken := old.vev(h, "attach", "x")
	old.sees("ready")
	taken.signal(syscall.SIGSTOP)
	tt := newTerm(t, 80, 24)
	tt.vev(h, "attach", "x", "--take")
	tt.sees("ready")
	eventually(t, "alone", func() bool { return h.session("x").Attached == 1 })
	s := h.session("x")
	require.Equal(t, [2]int{80, 24}, [2]int{s.Cols, s.Rows})
	taken.signal(syscall.SIGCONT)
	require.Zero(t, taken.exits())
	old.sees("detached from session x: taken by another client")
}

// TestReadOnlyClientsScrollSearchAndCopy: that is theirs alone, and changes nothing for anybody else.
func TestReadOnlyClientsScrollSearchAndCopy(t *testing.T) {
	h := newHome(t)
	h.sh("x", "seq 1 500; echo ready; exec cat > typed")
	h.waitText("x", "ready")
	before := h.session("x")
	tt := newTerm(t, 40, 10)
	p := tt.vev(h, "attach", "x", "--read-only")
	tt.sees("ready")
	tt.typ("\x1c[")
	tt.sees("[0/492]")
	tt.typ("/^123$\r")
	tt.sees("\n123")
	tt.typ("Vy")
	tt.gets("\x1b]52;c;MTIzCg==\a")
	tt.typ("q\x1cd")
	require.Zero(t, p.exits())
	after := h.session("x")
	require.Equal(t, [2]int{before.Cols, before.Rows}, [2]int{after.Cols, after.Rows})
	h.ok("send", "x", "script")
	h.ok("key", "x", "C-d", "C-d")
	require.Zero(t, h.vev("wait", "x", "--exit").code)
	require.Equal(t, "script", h.read("typed"), "a script's, and nothing else")
}

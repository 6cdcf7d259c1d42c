//go:build linux

package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

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
	var told func()
	for _, size := range sizes {
		tt := newTerm(t, size.Cols, size.Rows)
		tt.vev(h, "attach", "x")
		tt.sees("ready")
		terms = append(terms, tt)
		if len(terms) == 1 {
			told = tt.await("the session is 45x20, as the client used last: type to fit it here")
		}
	}
	told()
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
	// Such a line is there for three seconds, a second after it became so.
	told = terms[0].await("the session is 45x20, as its smallest client")
	h.ok("resize", "x", "smallest")
	told()
	right("smallest", sizes[2])
	h.ok("resize", "x", "largest")
	right("largest", sizes[0])
	told = terms[0].await("the session is 100x30, fixed: vev resize changes it")
	h.ok("resize", "x", "100x30")
	told()
	right("fixed", domain.Size{Cols: 100, Rows: 30})
	terms[2].typ("\r")
	right("fixed, and typed in", domain.Size{Cols: 100, Rows: 30})
}

// floodLines is how much is printed while a client is stopped, unless VEV_E2E_FLOOD says another number: what would grow,
// grows with what is printed and with each state that is drawn of it, not with time.
const floodLines = 300_000

// TestMust7StoppedClient: of three clients of different sizes one is stopped (SIGSTOP) during a flood, under each policy.
// The daemon takes no more memory, the others go on, and when it goes on it is right after one picture: what it missed is
// not drawn.
func TestMust7StoppedClient(t *testing.T) {
	h := newHome(t)
	lines := floodLines
	if text := os.Getenv("VEV_E2E_FLOOD"); text != "" {
		var err error
		lines, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	h.ok("new", "echo", "-d", "--", "cat")
	sibling := newTerm(t, 80, 24)
	sibling.vev(h, "attach", "echo")
	eventually(t, "attached", func() bool { return h.session("echo").Attached == 1 })

	h.ok("new", "sh", "-d", "--history", "2000", "--", "env", "ENV=", "PS1=$ ", "sh", "-i")
	var terms []*term
	var clients []*program
	for _, size := range []domain.Size{{Cols: 200, Rows: 50}, {Cols: 80, Rows: 24}, {Cols: 45, Rows: 20}} {
		tt := newTerm(t, size.Cols, size.Rows)
		clients = append(clients, tt.vev(h, "attach", "sh"))
		tt.until("a prompt", prompting)
		terms = append(terms, tt)
	}
	daemon := h.one("_daemon")
	for i, policy := range []string{"latest", "smallest", "largest", "100x30"} {
		stopped, beside := i%3, [2]int{(i + 1) % 3, (i + 2) % 3}
		typist := terms[beside[0]]
		h.ok("resize", "sh", policy)
		typist.typ("yes " + strings.Repeat("y", 30) + " | cat -n\r")
		for _, tt := range terms {
			tt.until("a flood", func(s *vt.Terminal) bool { return newestLine(s) > 20_000 })
		}
		clients[stopped].signal(syscall.SIGSTOP)
		first, drawn := 0, [2]int64{}
		terms[beside[0]].look(func(s *vt.Terminal) { first = newestLine(s) })
		for i, k := range beside {
			drawn[i] = terms[k].got()
		}
		before := memory(t, daemon)
		most := before
		const steps = 20 // each of the others shows what is new at each
		for step := range steps {
			for _, k := range beside {
				terms[k].until(fmt.Sprintf("%s: the flood, beside a stopped client", policy), func(s *vt.Terminal) bool {
					return newestLine(s) >= first+lines*(step+1)/steps
				})
			}
			most = max(most, memory(t, daemon))
		}
		latency := echoLatency(sibling)
		require.Equal(t, 3, h.session("sh").Attached, "a client that is stopped is attached")
		typist.typ("\x03")
		for _, k := range beside {
			terms[k].until("the prompt", prompting)
		}
		over := fmt.Sprintf("over %d", i)
		typist.typ("echo ov''er " + strconv.Itoa(i) + "\r")
		isOver := func(s *vt.Terminal) bool {
			return prompting(s) && s.Cursor().Row > 0 && strings.HasPrefix(rowText(s, s.Cursor().Row-1), over)
		}
		for _, k := range beside {
			terms[k].until(over, isOver)
		}

		had := terms[stopped].got()
		clients[stopped].signal(syscall.SIGCONT)
		terms[stopped].until(over, isOver)
		h.ok("wait", "sh", "--idle", "300ms")
		bytes := terms[stopped].got() - had
		cols, rows := 0, 0
		terms[stopped].look(func(s *vt.Terminal) { cols, rows = s.Size() })
		fresh := newTerm(t, cols, rows)
		watcher := fresh.vev(h, "attach", "sh", "--read-only")
		fresh.until(over, isOver)
		full := fresh.got()
		fresh.typ("\x1cd")
		require.Zero(t, watcher.exits())
		t.Logf("%s: %dx%d stopped for %d lines: daemon %.1f to %.1f MB; the others got %d and %d bytes; echo beside it %v; "+
			"%d bytes after SIGCONT, a fresh attach takes %d", policy, cols, rows, lines, float64(before)/1e6, float64(most)/1e6,
			terms[beside[0]].got()-drawn[0], terms[beside[1]].got()-drawn[1], latency, bytes, full)
		require.Less(t, most-before, 8_000_000, "%s: bytes of the daemon's memory", policy)
		require.Less(t, bytes, 3*full, "%s: what was missed is not drawn", policy)
	}
}

// prompting reports whether the cursor is behind a shell's prompt.
func prompting(s *vt.Terminal) bool {
	c := s.Cursor()
	return c.Col == 2 && strings.HasPrefix(rowText(s, c.Row), "$")
}

// newestLine is the largest number that a row begins with, as cat -n puts it there.
func newestLine(s *vt.Terminal) (newest int) {
	_, rows := s.Size()
	for y := range rows {
		text, _, _ := strings.Cut(strings.TrimLeft(rowText(s, y), " "), " ")
		if n, err := strconv.Atoi(text); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}

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

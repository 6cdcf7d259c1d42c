//go:build linux

package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// found is a terminal as a client finds it: text on it, and the command line that started the client. asBefore says that
// it is left so; the client may have said a line of its own.
func found(t *testing.T, cols, rows int) (tt *term, asBefore func()) {
	t.Helper()
	tt = newTerm(t, cols, rows)
	const line = 3 // where the cursor is
	_, err := tt.slave.WriteString("one\r\n\x1b[32mtwo\x1b[m\r\n$ vev\r\n")
	require.NoError(t, err)
	tt.until("the text from before", func(s *vt.Terminal) bool { return s.Cursor().Row == line })
	view, modes := tt.shoot(), tt.modes()
	return tt, func() {
		t.Helper()
		// A program that has ended may be ahead of its last bytes.
		tt.until("the main screen", func(s *vt.Terminal) bool { return !s.Modes().Alternate && s.Cursor().Visible })
		require.Equal(t, modes, tt.modes(), "the line discipline")
		now := tt.shoot()
		require.Equal(t, view.modes, now.modes, "the terminal's modes")
		require.Equal(t, view.rows[:line], now.rows[:line], "the screen")
		require.Empty(t, strings.TrimSpace(strings.Join(now.rows[line+2:], "")), "the screen below")
		require.Equal(t, view.cursor.Style, now.cursor.Style)
		require.Zero(t, now.cursor.Col)
	}
}

// TestMust2VimEditResizeAndRestore edits a file in vim through a resize.
func TestMust2VimEditResizeAndRestore(t *testing.T) {
	need(t, "vim")
	h := newHome(t)
	file := h.write("note.txt", []byte("first line\n"))
	h.ok("new", "w", "-d", "--", "vim", "-u", "NONE", file)
	tt, asBefore := found(t, 80, 24)
	p := tt.vev(h, "attach", "w")
	tt.sees("first line")
	tt.typ("ohello from vim\x1b")
	tt.sees("first line\nhello from vim")
	tt.resize(132, 43)
	tt.until("vim on 43 rows", func(s *vt.Terminal) bool { return rowText(s, 40) == "~" && rowText(s, 2) == "~" })
	tt.typ("o" + strings.Repeat("x", 120) + "\x1b")
	tt.sees("hello from vim\n" + strings.Repeat("x", 120) + "\n")
	tt.typ(":wq\r")
	require.Zero(t, p.exits())
	require.Equal(t, "first line\nhello from vim\n"+strings.Repeat("x", 120)+"\n", h.read("note.txt"))
	asBefore()
	require.Empty(t, h.ls())
}

// TestSignalsRestoreTheTerminal: however the client is asked to end, the terminal is as it was.
func TestSignalsRestoreTheTerminal(t *testing.T) {
	h := newHome(t)
	h.sh("x", `printf '\033[?1049h\033[?1000h\033[?25l\033[?1h\033='; echo on; exec cat`)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			h.t = t
			tt, asBefore := found(t, 80, 24)
			p := tt.vev(h, "attach", "x")
			tt.until("the session's modes", func(s *vt.Terminal) bool {
				return strings.Contains(textOf(s), "on") && s.Modes().Mouse == vt.MouseNormal
			})
			p.signal(sig)
			p.exits()
			asBefore()
		})
	}
	h.t = t
	require.Equal(t, "running", h.session("x").State)
}

// TestSuspendAndContinue: stopped by a signal, the client hands the terminal to the shell as it found it; continued, it
// paints again.
func TestSuspendAndContinue(t *testing.T) {
	bash := need(t, "bash")
	h := newHome(t)
	h.sh("x", `printf '\033[?1002h'; echo session text; exec cat`)
	tt := newTerm(t, 80, 24)
	cmd := h.command()
	cmd.Path, cmd.Args = bash, []string{"bash", "--norc", "--noprofile", "-i"}
	cmd.Env = append(cmd.Env, "VEV_E2E_BIN="+vev)
	sh := tt.start(cmd)
	tt.sees("$")
	shellModes := func() vt.Modes { return tt.shoot().modes }()
	tt.typ("\"$VEV_E2E_BIN\" attach x\r")
	tt.sees("session text")
	for range 2 {
		children := childrenByParent()[sh.pid()]
		require.Len(t, children, 1)
		require.NoError(t, syscall.Kill(children[0], syscall.SIGTSTP))
		tt.sees("Stopped")
		tt.until("the shell's own modes", func(s *vt.Terminal) bool { return s.Modes() == shellModes })
		tt.typ("echo in''between\r")
		tt.sees("inbetween")
		tt.typ("fg\r")
		tt.until("the session again", func(s *vt.Terminal) bool {
			return strings.Contains(textOf(s), "session text") && s.Modes().Mouse == vt.MouseButton
		})
		tt.typ("typed\r")
		tt.sees("typed\ntyped")
	}
}

// TestDaemonKilled: one clear line, the terminal restored, and a status that says it.
func TestDaemonKilled(t *testing.T) {
	h := newHome(t)
	h.sh("x", "echo alive; exec cat")
	var terms []*term
	var clients []*program
	var checks []func()
	for range 3 {
		tt, asBefore := found(t, 80, 24)
		clients = append(clients, tt.vev(h, "attach", "x"))
		tt.sees("alive")
		terms, checks = append(terms, tt), append(checks, asBefore)
	}
	kill9(t, h.one("_daemon"))
	for i, p := range clients {
		code := p.exits()
		terms[i].sees("vev: ")
		require.NotZero(t, code)
		checks[i]()
		said := strings.TrimSpace(strings.Join(strings.Split(terms[i].text(), "\n")[3:], "\n"))
		require.Contains(t, said, "vev: ")
		require.LessOrEqual(t, strings.Count(said, "\n"), 1, "a line and at most a hint:\n%s", said)
	}
	h.ok("new", "y", "-d", "--", "cat")
}

// TestBC56AnyTERM: attach looks nothing up in the host's database, and inside TERM is one that exists.
func TestBC56AnyTERM(t *testing.T) {
	h := newHome(t)
	h.sh("x", "echo TERM=$TERM; exec cat")
	for _, setting := range []string{"TERM=xterm-ghostty", "TERM=nonsense", "TERM=dumb", "TERM=", "TERM"} {
		t.Run(setting, func(t *testing.T) {
			tt, asBefore := found(t, 80, 24)
			other := h.with(setting, "TERMINFO=/nonexistent")
			other.t = t
			p := tt.vev(other, "attach", "x")
			tt.sees("TERM=xterm-256color")
			tt.typ("\x1cd")
			require.Zero(t, p.exits())
			asBefore()
		})
	}
}

// A terminal that says it cannot move its cursor, and does not answer when it is asked what it is, is refused before
// anything is drawn.
func TestADumbTerminalIsRefused(t *testing.T) {
	h := newHome(t)
	h.sh("x", "exec cat")
	for _, command := range []string{"attach", "new"} {
		tt := newTerm(t, 80, 24)
		tt.mu.Lock()
		tt.mute = true
		tt.mu.Unlock()
		require.Equal(t, 1, tt.vev(h.with("TERM=dumb"), command).exits())
		tt.sees("vev: this terminal cannot move its cursor (TERM=dumb)")
		tt.sees("hint: ")
		tt.mu.Lock()
		seen := string(tt.seen)
		tt.mu.Unlock()
		require.NotContains(t, seen, "\x1b[?1049h")
	}
	require.Len(t, h.ls(), 1)
}

// TestBC62aModesRestoredOnReattach: what the program set is set on the next terminal too, and undone on leaving.
func TestBC62aModesRestoredOnReattach(t *testing.T) {
	h := newHome(t)
	h.sh("x", `stty raw -echo; printf '\033[?2004h\033[?1h\033=\033[?1002h\033[?1006h\033[?1004h\033[5 q\033]2;the title\007\033[>5u'; echo ready; exec cat`)
	h.waitText("x", "ready")
	for range 2 {
		tt, asBefore := found(t, 80, 24)
		p := tt.vev(h, "attach", "x")
		tt.until("all modes", func(s *vt.Terminal) bool {
			m := s.Modes()
			return m.BracketedPaste && m.AppCursor && m.AppKeypad && m.Mouse == vt.MouseButton &&
				m.MouseEncoding == vt.MouseSGR && m.FocusEvents && m.KittyFlags == 5 &&
				s.Cursor().Style == vt.CursorBar && strings.Contains(s.Title(), "the title")
		})
		tt.typ("\x1cd")
		require.Zero(t, p.exits())
		asBefore()
	}
}

// TestBC62bSameSizeReattachPaints: the picture comes from the server; the program, which gets no signal, does nothing.
func TestBC62bSameSizeReattachPaints(t *testing.T) {
	h := newHome(t)
	h.sh("x", `stty raw -echo; printf '\033[2J\033[5;10Hplaced\033[31m red\033[m\033[24;70Hcorner\033[12;40H'; exec cat`)
	h.waitText("x", "corner")
	var first shot
	for i := range 3 {
		tt := newTerm(t, 80, 24)
		p := tt.vev(h, "attach", "x")
		tt.until("the picture", func(s *vt.Terminal) bool {
			return strings.Contains(rowText(s, 4), "placed red") && strings.HasSuffix(rowText(s, 23), "corner") && s.Cursor().Row == 11
		})
		if i == 0 {
			first = tt.shoot()
		}
		require.Equal(t, first, tt.shoot())
		tt.typ("\x1cd")
		p.exits()
	}
}

//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

// TestBC58SizeFollowsWhoTyped: the last to type decides, not the last to resize; who leaves no longer counts.
func TestBC58SizeFollowsWhoTyped(t *testing.T) {
	h := newHome(t)
	h.sh("x", "trap 'stty size' WINCH; echo ready; while :; do read x; echo got; done")
	big, small := newTerm(t, 100, 40), newTerm(t, 60, 20)
	big.vev(h, "attach", "x")
	big.sees("ready")
	ps := small.vev(h, "attach", "x")
	small.sees("ready")
	sizeIs := func(cols, rows int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%dx%d", cols, rows), func() bool { s := h.session("x"); return s.Cols == cols && s.Rows == rows })
	}
	big.typ("a\r")
	sizeIs(100, 40)
	small.typ("b\r")
	sizeIs(60, 20)
	big.typ("c\r")
	sizeIs(100, 40)
	small.resize(70, 22)
	small.typ("d\r")
	sizeIs(70, 22)
	small.typ("\x1cd")
	ps.exits()
	sizeIs(100, 40)
	h.ok("send", "x", "from a script")
	sizeIs(100, 40)
}

// TestBC59ReadOnly: nothing that a read-only client does reaches the program or the session's state.
func TestBC59ReadOnly(t *testing.T) {
	h := newHome(t)
	h.sh("x", `stty raw -echo; printf '\033[?1004h\033[?1000h\033[?2004h'; echo ready; head -c 6 > typed; echo fin''ished; exec cat`)
	h.waitText("x", "ready")
	before := h.session("x")
	tt := newTerm(t, 50, 15)
	p := tt.vev(h, "attach", "x", "--read-only")
	tt.sees("ready")
	tt.typ("keys\x03\x1b[200~pasted\x1b[201~\x1b[I\x1b[O\x1b[M !!\x1b[<0;3;3M")
	tt.resize(90, 30)
	tt.typ("\x1cd") // after all of that in the same queue
	require.Zero(t, p.exits())
	// Not by the client's good will: one that sends input all the same is refused.
	rude := view(t, brokerConnection(t, h), protocol.Attach{Session: "x", Size: domain.Size{Cols: 33, Rows: 11}, ReadOnly: true})
	require.NoError(t, rude.conn.Send(&protocol.Resize{Size: domain.Size{Cols: 44, Rows: 12}}))
	require.NoError(t, rude.conn.Send(&protocol.Input{Seq: 1, Data: []byte("rude")}))
	require.Equal(t, fault.Denied, rude.ended().Failure.Kind)
	after := h.session("x")
	require.Equal(t, [2]int{before.Cols, before.Rows}, [2]int{after.Cols, after.Rows}, "the size")
	h.ok("send", "x", "script")
	h.waitText("x", "finished")
	require.Equal(t, "script", h.read("typed"), "a script types all the same")
}

// TestBC60TerminalsOfDifferentPowers: poor and rich terminals on one session each show it as well as they can, and nobody
// spins for it. What a poor one would print as text does not reach it; what a rich one gets does not depend on the others.
func TestBC60TerminalsOfDifferentPowers(t *testing.T) {
	h := newHome(t)
	h.sh("x", `stty raw -echo; printf '\033]2;name\007\033[?1002h\033[?1006h\033[>1u\033[6 q'; `+
		`printf '\033[38;2;200;100;50mtrue\033[m \033[4:3;58:2::1:2:3mcurly\033[m \033]8;;http://x\007link\033]8;;\007 mode'; exec cat`)
	h.waitText("x", "mode")
	rich := []string{"\x1b]2;name", "\x1b]8;;http://x", "4:3", "\x1b[>1u", "\x1b[6 q"}
	poor := []string{"\x1b]", ":", "\x1b[>", "\x1b[=", " q", "38;2;", "\x1b[?1049h\x1b[22"}
	var clients []*program
	for _, c := range []struct {
		env         []string
		orange      vt.Color
		gets, lacks []string
	}{
		{[]string{"TERM=linux", "COLORTERM=truecolor"}, vt.Indexed(1), nil, poor},
		{[]string{"TERM=vt100"}, 0, nil, poor},
		{[]string{"TERM=dumb", "COLORTERM=truecolor"}, 0, nil, poor},
		{[]string{"TERM=screen"}, vt.Indexed(1), nil, poor},
		{[]string{"TERM=screen.xterm-256color", "COLORTERM=truecolor"}, vt.Indexed(167), nil, poor},
		{[]string{"TERM=screen-256color", "TMUX=/tmp/tmux,1,0"}, vt.Indexed(167), rich, []string{"38;2;"}},
		{[]string{"TERM=xterm-256color"}, vt.Indexed(167), rich, []string{"38;2;"}},
		{[]string{"TERM=xterm-256color", "COLORTERM=truecolor", "NO_COLOR=1"}, 0, rich, []string{"38;"}},
		{[]string{"TERM=xterm-kitty"}, vt.RGB(200, 100, 50), rich, nil},
		{[]string{"TERM=xterm-256color", "COLORTERM=truecolor"}, vt.RGB(200, 100, 50), rich, nil},
	} {
		tt := newTerm(t, 80, 24)
		clients = append(clients, tt.vev(h.with(c.env...), "attach", "x"))
		tt.sees("true curly link mode")
		for _, s := range c.gets {
			tt.gets(s)
		}
		orange, seen := tt.first()
		require.Equal(t, c.orange, orange, "%v", c.env)
		for _, s := range c.lacks {
			require.NotContains(t, seen, s, "%v", c.env)
		}
	}
	pids := []int{h.one("_broker"), h.one("_daemon")}
	for _, p := range clients {
		pids = append(pids, p.pid())
	}
	before := cpuTicks(pids)
	h.ok("wait", "x", "--idle", "700ms")
	require.LessOrEqual(t, cpuTicks(pids)-before, 7, "ticks of 10 ms in 700 ms, with what the wait itself takes")
}

// TestBC60InsideScreen: GNU screen, which reads less than an xterm does and shows some of the rest, shows the session as it
// is, while it scrolls and is drawn over.
func TestBC60InsideScreen(t *testing.T) {
	screen := need(t, "screen")
	h := newHome(t)
	h.sh("x", `stty -echo; printf '\033]2;name\007\033[>1u\033[6 q\033[4:3;58:2::1:2:3mcurly\033[m \033]8;;http://x\007link\033]8;;\007\n'; echo ready
		while read -r l; do for n in $(seq 30); do printf '%s %d ─│ 宽 \033[3%dmcolour\033[m\n' "$l" $n $((n % 8)); done
			printf '\033[3;15r\033[15H\n\n\033[r\033[5;10H\033[4Lthere\033[24Hend of %s' "$l"; done`)
	h.waitText("x", "ready")
	require.NoError(t, os.Mkdir(h.path("screens"), 0o700))
	tt := newTerm(t, 80, 24)
	cmd := exec.Command(screen, "-U", "-c", h.write("screenrc", []byte("startup_message off\n")), vev, "attach", "x")
	cmd.Env, cmd.Dir = h.with("SCREENDIR="+h.path("screens"), "COLORTERM=truecolor").env, h.dir
	p := tt.start(cmd)
	tt.sees("curly link\nready\n")
	for _, l := range []string{"first", "second"} {
		tt.typ(l + "\r")
		tt.sees("end of " + l)
		want := strings.TrimRight(h.ok("capture", "x"), "\n")
		tt.until("the session's screen:\n"+want, func(s *vt.Terminal) bool { return strings.TrimRight(textOf(s), "\n") == want })
	}
	tt.typ("\x1cd")
	require.Zero(t, p.exits())
}

// first is the colour of the screen's first character, and the bytes that the terminal got.
func (tt *term) first() (fg vt.Color, seen string) {
	tt.look(func(s *vt.Terminal) { fg, seen = s.Row(0).Cells()[0].Foreground(), string(tt.seen) })
	return fg, seen
}

// TestFocusReachesTheProgram: through the daemon, which knows of all clients, and only where the program asked.
func TestFocusReachesTheProgram(t *testing.T) {
	h := newHome(t)
	h.sh("x", `stty raw -echo; printf '\033[?1004hasked '; exec cat -v`)
	h.sh("y", `stty raw -echo; printf 'not asked '; exec cat -v`)
	h.waitText("x", "asked")
	one, two := newTerm(t, 80, 24), newTerm(t, 80, 24)
	one.vev(h, "attach", "x")
	one.sees("asked ^[[I\n")
	one.typ("\x1b[O")
	one.sees("asked ^[[I^[[O\n")
	two.vev(h, "attach", "x")
	one.sees("asked ^[[I^[[O^[[I\n")
	one.typ("\x1b[Ia\x1b[Ob")
	one.sees("asked ^[[I^[[O^[[Iab\n")
	other := newTerm(t, 80, 24)
	other.vev(h, "attach", "y")
	other.sees("not asked")
	other.typ("\x1b[O\x1b[Ix")
	other.sees("not asked x\n")
}

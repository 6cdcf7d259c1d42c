//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
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

// shell attaches a session with the user's login shell and returns when it prompts with "$ ", whatever its profile says.
func shell(t *testing.T, h *home, tt *term) *program {
	t.Helper()
	p := tt.vev(h, "new", "sh")
	tt.typ("PS1='$ '; clear; echo rea''dy\r")
	tt.sees("ready\n$")
	return p
}

// manyLines makes a file of numbered lines, about size bytes, and returns its last ones.
func manyLines(t *testing.T, h *home, size, last int) (path string, tail []string) {
	t.Helper()
	data := make([]byte, 0, size+100)
	for i := 0; len(data) < size; i++ {
		data = fmt.Appendf(data, "%08d the quick brown fox jumps over the lazy dog again\n", i)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	return h.write("many.txt", data), lines[len(lines)-last:]
}

// TestMust3CatOf50MB: the last screen is right, history is whole, and all of vev stays small.
func TestMust3CatOf50MB(t *testing.T) {
	h := newHome(t)
	file, tail := manyLines(t, h, 50_000_000, 1000)
	tt := newTerm(t, 80, 24)
	client := shell(t, h, tt)
	tt.typ("cat " + file + "; echo e''nd\r")
	tt.sees(strings.Join(tail[len(tail)-22:], "\n") + "\nend\n$")
	history := h.ok("capture", "sh", "--history", "1000")
	require.Contains(t, history, strings.Join(tail[100:], "\n")+"\nend\n")

	sum := 0
	for _, pid := range []int{client.pid(), h.one("_broker"), h.one("_daemon")} {
		sum += peakMemory(t, pid)
	}
	t.Logf("peak memory of client, broker and daemon: %d MB", sum/1_000_000)
	require.Less(t, sum, 100_000_000, "bytes, what they share counted three times")
	tt.typ("exit\r")
	require.Zero(t, client.exits())
}

// TestMust3CtrlCDuringYes: the prompt is back within 100 ms.
func TestMust3CtrlCDuringYes(t *testing.T) {
	h := newHome(t)
	tt := newTerm(t, 80, 24)
	shell(t, h, tt)
	var took []time.Duration
	for i := range 5 {
		tt.typ(fmt.Sprintf("yes flood%d\r", i))
		tt.until("a flood", func(s *vt.Terminal) bool {
			return rowText(s, 0) == fmt.Sprintf("flood%d", i) && rowText(s, 20) == rowText(s, 0)
		})
		start := time.Now()
		tt.typ("\x03")
		tt.until("the prompt", func(s *vt.Terminal) bool { return rowText(s, s.Cursor().Row) == "$" })
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	t.Logf("Ctrl-C to prompt: %v", took)
	require.Less(t, took[2], 100*time.Millisecond, "the median")
}

// TestMust4StalledTerminals: 24 clients whose terminals take nothing, each with 512 KiB to show, hold nobody up, and
// when their terminals flow again each shows the newest.
func TestMust4StalledTerminals(t *testing.T) {
	h := newHome(t)
	h.ok("new", "echo", "-d", "--", "cat")
	free := newTerm(t, 80, 24)
	free.vev(h, "attach", "echo")
	eventually(t, "attached", func() bool { return h.session("echo").Attached == 1 })
	idle := echoLatency(free)

	file, tail := manyLines(t, h, 512<<10, 20)
	var stalled []*term
	for i := range 24 {
		name := fmt.Sprintf("s%d", i)
		h.sh(name, "echo ready; read x; cat "+file+"; echo all out; exec cat")
		tt := newTerm(t, 80, 24)
		tt.vev(h, "attach", name)
		tt.sees("ready")
		tt.stop()
		stalled = append(stalled, tt)
	}
	for i := range stalled {
		h.ok("key", fmt.Sprintf("s%d", i), "Enter")
	}
	beside := echoLatency(free)
	for i := range stalled {
		h.waitText(fmt.Sprintf("s%d", i), "^all out$")
	}
	t.Logf("echo: idle %v, beside %v", idle, beside)
	require.Less(t, beside, 2*idle+5*time.Millisecond)
	for _, tt := range stalled {
		tt.resume()
		tt.sees(strings.Join(tail, "\n") + "\nall out")
	}
	broker, _ := h.stats()
	require.Equal(t, 25, broker.Streams, "no stream was settled")
}

// echoLatency is the median time from a key to its echo, in a session that echoes at the begin of an empty line.
func echoLatency(tt *term) time.Duration {
	tt.t.Helper()
	var took []time.Duration
	for i := range 60 {
		start := time.Now()
		tt.typ("k")
		tt.until("the echo of a key", func(s *vt.Terminal) bool { return s.Cursor().Col == i+1 })
		took = append(took, time.Since(start))
	}
	tt.typ("\x15") // the line is given up
	tt.until("an empty line", func(s *vt.Terminal) bool { return s.Cursor().Col == 0 })
	slices.Sort(took)
	return took[len(took)/2]
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

// TestMust5ClientsKilledAtRandom: nothing of a killed client stays behind, and its session goes on.
func TestMust5ClientsKilledAtRandom(t *testing.T) {
	h := newHome(t)
	h.sh("x", "echo begin; exec cat")
	h.sh("busy", "while :; do date +%N; done")
	round := func(i int) {
		name, most := "x", 200
		if i%2 == 1 {
			name, most = "busy", 5000
		}
		tt := newTerm(t, 80, 24)
		p := tt.vev(h, "attach", name)
		// At a point that is another each time: from before the first byte to in the middle of a screen.
		tt.until("some bytes", func(*vt.Terminal) bool { return tt.total >= int64(i*37%most) })
		p.signal(syscall.SIGKILL)
		require.Equal(t, -int(syscall.SIGKILL), p.exits())
	}
	settled := func() (broker, daemon int) {
		eventually(t, "nobody is attached", func() bool {
			b, d := h.stats()
			return d.Attachments == 0 && b.Streams <= 1
		})
		return openFiles(t, h.one("_broker")), openFiles(t, h.one("_daemon"))
	}
	for i := range 4 {
		round(i)
	}
	brokerFiles, daemonFiles := settled()
	broker, daemon := h.stats()
	for i := range 40 {
		round(i)
	}
	settled()
	eventually(t, "descriptors and goroutines are as before", func() bool {
		b, d := h.stats()
		return openFiles(t, b.Pid) <= brokerFiles && openFiles(t, d.Pid) <= daemonFiles &&
			b.Goroutines <= broker.Goroutines && d.Goroutines <= daemon.Goroutines
	})
	require.Empty(t, zombies(broker.Pid))
	require.Empty(t, zombies(daemon.Pid))
	require.Len(t, h.ls(), 2)
	h.ok("send", "x", "still")
	h.waitText("x", "still")
}

// TestMust5BrokerKilledWhilePasting: 1 MB each through two attached clients, raw and in lines with an echo, while every
// 200 ms for 10 s the broker is killed and the clients' connections are cut, be they the broker's or the daemon's. Every
// byte arrives once and in order.
func TestMust5BrokerKilledWhilePasting(t *testing.T) {
	const size = 1 << 20
	h := newHome(t)
	raw := pasteText(size)
	h.sh("raw", fmt.Sprintf("stty raw -echo; echo ready; head -c %d > raw.out; head -c 3 > raw.tail; echo fin''ished", size))
	cooked := newTerm(t, 80, 24)
	h.sh("cooked", "echo ready; cat > cooked.out; echo fin''ished; exec cat")
	rawTerm := newTerm(t, 80, 24)
	pr := rawTerm.vev(h, "attach", "raw")
	rawTerm.sees("ready")
	pc := cooked.vev(h, "attach", "cooked")
	cooked.sees("ready")

	pasted := make(chan error, 2)
	const bit = 16 << 10 // each 156 ms: the paste lasts as long as the killing
	for _, tt := range []*term{rawTerm, cooked} {
		go func() {
			pace := time.NewTicker(10 * time.Second / (size / bit))
			defer pace.Stop()
			for rest := raw; len(rest) > 0; rest = rest[min(bit, len(rest)):] {
				if _, err := tt.master.WriteString(rest[:min(bit, len(rest))]); err != nil {
					pasted <- err
					return
				}
				<-pace.C
			}
			pasted <- nil
		}()
	}
	kills, cuts := 0, 0
	reader := h.session("raw").Pid
	beat := time.NewTicker(200 * time.Millisecond)
	defer beat.Stop()
	for i := range 50 {
		// It reads by fits and starts, so that input is on its way at every station when the cut comes.
		require.NoError(t, syscall.Kill(-reader, []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT}[i%2]))
		<-beat.C
		for _, pid := range h.role("_broker") {
			kill9(t, pid)
			kills++
		}
		cuts += cutConnections(t, pr.pid()) + cutConnections(t, pc.pid())
	}
	t.Logf("the broker was killed %d times, %d connections were cut", kills, cuts)
	require.Greater(t, kills, 20)
	require.Greater(t, cuts, 20)
	require.NoError(t, <-pasted)
	require.NoError(t, <-pasted)
	rawTerm.typ("END")
	require.Zero(t, pr.exits())
	requireSame(t, raw, h.read("raw.out"))
	require.Equal(t, "END", h.read("raw.tail"), "nothing came twice")

	cooked.typ("\x04")
	cooked.sees("finished")
	requireSame(t, strings.ReplaceAll(raw, "\r", "\n"), h.read("cooked.out"))
}

// pasteText is size bytes of lines that differ, as a terminal sends them: with Enter at their ends.
func pasteText(size int) string {
	text := make([]byte, 0, size+100)
	for i := 0; len(text) < size; i++ {
		text = fmt.Appendf(text, "%07d %s\r", i, strings.Repeat(string(rune('a'+i%26)), i%70))
	}
	text = text[:size]
	text[size-1] = '\r'
	return string(text)
}

// requireSame compares long texts and shows where they part.
func requireSame(t *testing.T, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	around := func(s string) string { return fmt.Sprintf("%q", s[max(0, min(at, len(s))-40):min(len(s), at+80)]) }
	t.Fatalf("%d bytes in place of %d; they part at %d:\n%s\n%s", len(got), len(want), at, around(want), around(got))
}

// TestBC47BigPaste: 10 MB into a program that echoes them, with the output taking its time: no stall, and Ctrl-C gets
// through in the middle.
func TestBC47BigPaste(t *testing.T) {
	const size = 10 << 20
	h := newHome(t)
	h.sh("quiet", fmt.Sprintf("stty raw -echo; echo ready; head -c %d > quiet.out; echo fin''ished; exec cat", size))
	tt := newTerm(t, 80, 24)
	tt.vev(h, "attach", "quiet")
	tt.sees("ready")
	text := pasteText(size)
	tt.typ(text)
	tt.sees("finished")
	requireSame(t, text, h.read("quiet.out"))

	h.sh("echo", "echo ready; cat; echo not reached")
	loud := newTerm(t, 80, 24)
	loud.vev(h, "attach", "echo")
	loud.sees("ready")
	pasted := make(chan struct{})
	go func() {
		defer close(pasted)
		_, _ = loud.master.WriteString(text[:size/4])
		_, _ = loud.master.WriteString("\x03")
	}()
	<-pasted
	eventually(t, "Ctrl-C ended it", func() bool {
		return !slices.ContainsFunc(h.ls(), func(s listed) bool { return s.Name == "echo" && s.State == "running" })
	})
}

// TestBC48FloodBesideTyping: while one session prints at full speed, keys in another are fast.
func TestBC48FloodBesideTyping(t *testing.T) {
	h := newHome(t)
	h.ok("new", "type", "-d", "--", "cat")
	h.ok("new", "flood", "-d", "--", "yes")
	flood := newTerm(t, 80, 24)
	flood.vev(h, "attach", "flood")
	flood.sees("y\ny\ny")
	tt := newTerm(t, 80, 24)
	tt.vev(h, "attach", "type")
	eventually(t, "attached", func() bool { return h.session("type").Attached == 1 })
	took := echoLatency(tt)
	t.Logf("echo beside a flood: %v", took)
	require.Less(t, took, 50*time.Millisecond)
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

// TestBC61OutputNeverBecomesInput: the program asks and provokes; all that comes back is what a terminal may answer.
func TestBC61OutputNeverBecomesInput(t *testing.T) {
	h := newHome(t)
	hostile := `\033]2;;touch /tmp/x;\r\007\033[21t\033[20t` +
		`\033P$qzz;echo pwned\r\033\\` +
		`\033]52;c;?\007` +
		`\033]99;i=$(id);x\033\\` +
		`\033]4;1;?\033\\\033]l;pwned\033\\` +
		`\r\n%%begin 1 1 1\r\n{"event":"pwned"}\r\n`
	h.write("hostile", []byte(hostile))
	for _, attached := range []bool{false, true} {
		name := fmt.Sprintf("x%v", attached)
		h.sh(name, `stty raw -echo; echo ready; read -r go; printf "$(cat hostile)"; printf '\033[5n'; cat > `+name+`.in`)
		h.waitText(name, "ready")
		tt := newTerm(t, 80, 24)
		if attached {
			tt.vev(h, "attach", name)
			tt.sees("ready")
		}
		h.ok("send", name, "\n")
		h.waitText(name, "%begin 1 1 1")
		in := filepath.Join(h.dir, name+".in")
		eventually(t, "the answer to the last question", func() bool {
			b, _ := os.ReadFile(in)
			return strings.HasSuffix(string(b), "\x1b[0n")
		})
		if attached {
			tt.sees("%begin 1 1 1")
			h.ok("send", name, "after")
			eventually(t, "what was typed after it", func() bool {
				b, _ := os.ReadFile(in)
				return strings.HasSuffix(string(b), "after")
			})
		}
		got := h.read(name + ".in")
		for _, chosen := range []string{"touch", "pwned", "zz", "id", "event", "begin"} {
			require.NotContains(t, got, chosen)
		}
	}
	_, err := os.Stat("/tmp/x")
	require.ErrorIs(t, err, os.ErrNotExist)
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

// TestBC62cAttachCostAfterMuchOutput: attaching costs what screen and history hold, not what was ever printed.
func TestBC62cAttachCostAfterMuchOutput(t *testing.T) {
	h := newHome(t)
	attachBytes := func(name string) int64 {
		tt := newTerm(t, 80, 24)
		p := tt.vev(h, "attach", name)
		tt.sees("settled")
		total := tt.got()
		tt.typ("\x1cd")
		p.exits()
		return total
	}
	h.sh("little", `printf '\033[H\033[2J%s' x; echo settled; exec cat`)
	h.waitText("little", "settled")
	little := attachBytes("little")
	daemon := h.one("_daemon")
	before := peakMemory(t, daemon)
	// 100 MB without a line feed.
	h.sh("much", `yes "$(printf '\033[H\033[2J%04000d' 7)" | head -c 100000000 | tr -d '\n'; printf '\033[H\033[2J'; echo settled; exec cat`)
	h.waitText("much", "^settled")
	much := attachBytes("much")
	t.Logf("attach: %d bytes before, %d after; daemon: %d MB before, %d MB after", little, much, before>>20, peakMemory(t, daemon)>>20)
	require.Less(t, much, 2*little+4096)
	require.Less(t, peakMemory(t, daemon)-before, 60<<20)
}

// TestBC62hKeysBeforeTheShellIsReady: a long text and its Enter, sent at once, arrive whole.
func TestBC62hKeysBeforeTheShellIsReady(t *testing.T) {
	h := newHome(t)
	text := "echo " + strings.Repeat("0123456789", 105) // 1055 bytes
	h.sh("late", "sleep 0.3; exec sh")
	h.ok("send", "late", text)
	h.ok("key", "late", "Enter")
	h.ok("key", "late", "C-d")
	require.Equal(t, "0\n", h.ok("wait", "late", "--exit"))
	history := h.ok("capture", "late", "--history", "100")
	require.Equal(t, 2, strings.Count(strings.ReplaceAll(history, "\n", ""), strings.Repeat("0123456789", 105)), "typed and answered:\n%s", history)
}

// TestBC62iWaitInPlaceOfPolling: a text that came and went before the question counts as come when it is on the screen
// or newer, and a wait that is not met ends in time.
func TestBC62iWaitInPlaceOfPolling(t *testing.T) {
	h := newHome(t)
	h.sh("x", "echo begin; read a; seq 1 5000; echo special; seq 1 5000; read b; exit 9")
	h.waitText("x", "begin")
	waited := make(chan answer, 1)
	go func() { waited <- h.vev("wait", "x", "--text", "^special$", "--timeout", "20s") }()
	eventually(t, "the wait is on", func() bool { _, d := h.stats(); return d.Conversations >= 2 })
	h.ok("key", "x", "Enter")
	require.Zero(t, (<-waited).code, "seen although it scrolled away at once")
	require.Equal(t, 4, h.vev("wait", "x", "--exit", "--timeout", "50ms").code)
	require.Zero(t, h.vev("wait", "x", "--idle", "100ms", "--timeout", "20s").code)
	h.ok("key", "x", "Enter")
	require.Equal(t, "9\n", h.ok("wait", "x", "--exit", "--timeout", "20s"))
}

// TestBC60TerminalsOfDifferentPowers: a poor and a rich terminal on one session each show it, and nobody spins for it.
func TestBC60TerminalsOfDifferentPowers(t *testing.T) {
	h := newHome(t)
	h.sh("x", `stty raw -echo; printf '\033[38;2;200;100;50mtrue\033[m \033[4:3mcurly\033[m \033[?1002h\033[?1006h\033[>1umode'; exec cat`)
	h.waitText("x", "mode")
	var clients []*program
	for _, kind := range []string{"linux", "vt100", "xterm-kitty", "dumb"} {
		tt := newTerm(t, 80, 24)
		clients = append(clients, tt.vev(h.with("TERM="+kind), "attach", "x"))
		tt.sees("true curly mode")
	}
	pids := []int{h.one("_broker"), h.one("_daemon")}
	for _, p := range clients {
		pids = append(pids, p.pid())
	}
	before := cpuTicks(pids)
	h.ok("wait", "x", "--idle", "700ms")
	require.LessOrEqual(t, cpuTicks(pids)-before, 3, "ticks of 10 ms in 700 ms, with what the wait itself takes")
}

// TestBC37DoctorSaysWhetherSessionsSurviveLogout: the user is told now, not at the next login.
func TestBC37DoctorSaysWhetherSessionsSurviveLogout(t *testing.T) {
	h := newHome(t)
	require.Contains(t, h.vev("doctor").stdout, "logout")
}

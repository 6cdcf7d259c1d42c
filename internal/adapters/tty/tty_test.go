package tty

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/ports/porttest"
	"github.com/vev-term/vev/internal/testkit/ptytest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "_play" {
		os.Exit(play())
	}
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	porttest.Terminal(t, func(t *testing.T) porttest.TerminalScene {
		master, slave := ptytest.Pair(t)
		stdin := os.Stdin
		os.Stdin = slave
		term, err := Open()
		os.Stdin = stdin
		require.NoError(t, err)
		t.Cleanup(func() { term.Close() })
		return porttest.TerminalScene{
			Terminal: term,
			User:     master,
			Resize: func(s domain.Size) {
				ptytest.SetSize(t, master, s)
				// This terminal is not the test's own, so the kernel tells nobody.
				require.NoError(t, syscall.Kill(os.Getpid(), unix.SIGWINCH))
			},
			Modes: func() any { return ptytest.Modes(t, master) },
		}
	})
}

func TestNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	require.False(t, IsTerminal(r))
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	os.Stdin = r
	_, err = Open()
	require.Equal(t, fault.Usage, fault.KindOf(err))
}

// play is a small full-screen program. Keys: q ends, z suspends, m tells
// whether standard input is non-blocking.
func play() int {
	term, err := Open()
	if err != nil {
		fmt.Println("no terminal:", err)
		return 2
	}
	defer term.Close()
	if err := term.Raw(); err != nil {
		return 3
	}
	say := func(format string, args ...any) { fmt.Fprintf(term, format+";", args...) }
	say("ready")
	keys := make(chan byte)
	go func() {
		if len(os.Args) > 2 {
			return // deaf: to read in the background is to be stopped
		}
		defer close(keys)
		b := make([]byte, 1)
		for {
			if _, err := term.Read(b); err != nil {
				note("read: %v", errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed))
				return
			}
			keys <- b[0]
		}
	}()
	for {
		select {
		case k, ok := <-keys:
			if !ok {
				return 4
			}
			switch k {
			case 'q':
				return 0
			case 'z':
				say("stopping")
				if err := term.Suspend(); err != nil {
					say("refused %s", fault.KindOf(err))
				} else {
					say("suspend returned")
				}
			case 'm':
				flags, _ := unix.FcntlInt(0, unix.F_GETFL, 0)
				say("nonblocking %v", flags&unix.O_NONBLOCK != 0)
			default:
				say("key %d", k)
			}
		case e := <-term.Events():
			switch e {
			case ports.TerminalResumed:
				if err := term.Raw(); err != nil {
					return 5
				}
			case ports.TerminalTerminate:
				say("bye")
				return 6
			case ports.TerminalHungUp:
				note("hung up")
				return 7
			case ports.TerminalSuspend:
				term.Suspend()
			}
			say("event %s", e)
		}
	}
}

// note tells the test something when there is no terminal any more to tell it.
func note(format string, args ...any) {
	if f, err := os.OpenFile(os.Getenv("NOTES"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
		fmt.Fprintf(f, format+"\n", args...)
		f.Close()
	}
}

func start(t *testing.T) *ptytest.Term {
	t.Helper()
	p := ptytest.Start(t, []string{os.Args[0], "_play"}, ptytest.Env(), domain.DefaultSize)
	p.WaitText("ready;")
	return p
}

// inShell runs the play as a job of an interactive shell.
func inShell(t *testing.T, line string) *ptytest.Term {
	t.Helper()
	p := ptytest.Start(t, []string{"/bin/sh", "-i"}, ptytest.Env("ENV=", "PLAY="+os.Args[0]), domain.DefaultSize)
	prompt(p)
	p.Type(line + "\r")
	return p
}

// prompt waits for the shell to wait for a line.
func prompt(p *ptytest.Term) {
	p.WaitFor("for the shell's prompt", func(s ptytest.Screen) bool { return strings.HasSuffix(s.Lines[s.Cursor.Row], "$") })
}

func TestKeysComeAsTheyAre(t *testing.T) {
	p := start(t)
	require.True(t, p.Raw())
	p.Type("\x03\x1a\x1c\x11\x13\r\n\x7f\xff")
	for _, k := range []int{3, 26, 28, 17, 19, 13, 10, 127, 255} {
		p.WaitText(fmt.Sprintf("key %d;", k))
	}
	p.Type("m")
	p.WaitOutput("nonblocking false;")
	p.Type("q")
	require.Zero(t, p.Wait().Code)
	require.Equal(t, p.Found(), p.Modes())
}

func TestRequestsToEnd(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT} {
		p := start(t)
		p.Signal(sig)
		p.WaitText("bye;")
		require.Equal(t, 6, p.Wait().Code, "%v", sig)
		require.Equal(t, p.Found(), p.Modes(), "%v", sig)
	}
}

func TestHangUp(t *testing.T) {
	notes := t.TempDir() + "/notes"
	p := ptytest.Start(t, []string{os.Args[0], "_play"}, ptytest.Env("NOTES="+notes), domain.DefaultSize)
	p.WaitText("ready;")
	p.HangUp()
	require.Contains(t, []int{4, 7}, p.Wait().Code, "by the event or by the end of the keys")
	b, err := os.ReadFile(notes)
	require.NoError(t, err)
	require.NotContains(t, string(b), "read: false", "the end of a terminal reads as io.EOF")
}

func TestModesOfATerminalThatIsGone(t *testing.T) {
	master, slave := ptytest.Pair(t)
	stdin := os.Stdin
	os.Stdin = slave
	term, err := Open()
	os.Stdin = stdin
	require.NoError(t, err)
	require.NoError(t, term.Raw())
	require.NoError(t, master.Close())
	_, err = term.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, term.Raw(), "a resumption that is seen before the end")
	require.NoError(t, term.Restore())
	require.NoError(t, term.Close())
}

func TestResizeIsTold(t *testing.T) {
	p := start(t)
	p.Resize(domain.Size{Cols: 100, Rows: 30})
	p.WaitText("event resized;")
}

func TestSuspendAndContinue(t *testing.T) {
	for _, line := range []string{
		`"$PLAY" _play`,
		`sh -c '"$PLAY" _play; echo script goes on'`, // the script must stop as well, or the shell would wait for it
	} {
		p := inShell(t, line)
		p.WaitText("ready;")
		shell := p.Found()
		for range 2 {
			p.Type("z")
			p.WaitOutput("stopping;")
			p.WaitFor("for the shell to tell of the stop", func(s ptytest.Screen) bool { return s.Contains("Stopped") })
			require.False(t, p.Raw(), "the shell's line editing works")
			p.Type("echo in the $((6*7)) shell\r")
			p.WaitText("in the 42 shell")
			p.Type("clear; fg\r")
			resumed(p, "suspend returned;")
			require.True(t, p.Raw())
		}
		p.Type("q")
		prompt(p)
		p.Type("exit\r")
		p.Wait()
		require.Equal(t, shell.Lflag, p.Modes().Lflag)
	}
}

// resumed waits for the job to run again behind the shell's clear, and to have said what.
func resumed(p *ptytest.Term, what string) {
	p.WaitFor("to be resumed and told "+what, func(s ptytest.Screen) bool {
		return !s.Contains("Stopped") && s.Contains("event resumed;") && s.Contains(what)
	})
}

func TestStopFromOutside(t *testing.T) {
	p := inShell(t, `"$PLAY" _play & play=$!; fg`)
	p.WaitText("ready;")
	p.Type("z")
	p.WaitText("Stopped")
	p.Type("clear; (sleep 0.1; kill -TSTP $play) & fg\r")
	p.WaitFor("to be resumed, and stopped by TerminalSuspend", func(s ptytest.Screen) bool {
		return s.Contains("suspend returned;") && s.Contains("event resumed;") && s.Contains("Stopped")
	})
	p.Type("clear; fg\r")
	resumed(p, "event suspend;")
	require.True(t, p.Raw())
}

func TestNobodyToContinue(t *testing.T) {
	p := start(t) // leads its session
	p.Type("z")
	p.WaitText("refused unsupported;")
	require.True(t, p.Raw(), "nothing was changed")
	p.Type("x")
	p.WaitText("key 120;")
}

func TestBackgroundChangesNothing(t *testing.T) {
	p := inShell(t, `"$PLAY" _play deaf & :`)
	p.WaitText("ready;")
	before := p.Modes()
	p.Type("kill -TERM $!; wait $!; echo code $?\r")
	p.WaitText("code 6")
	require.Equal(t, before.Lflag, p.Modes().Lflag)
	require.False(t, p.Raw())
}

func TestControllingTerminalByName(t *testing.T) {
	p := inShell(t, `"$PLAY" _play </dev/tty`)
	p.WaitText("ready;")
	require.True(t, p.Raw())
	p.Type("q")
	prompt(p)
}

//go:build unix

package sshstdio

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeSSH puts a shell script in ssh's place.
func fakeSSH(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// line is a conversation that says and hears one line.
type line struct {
	io.Closer
	heard string
}

func (l *line) OpenStream(context.Context, string, protocol.StartPolicy, []byte) (ports.Stream, error) {
	return nil, errors.New("not of this conversation")
}
func (l *line) Probe(context.Context) error { return errors.New("not of this conversation") }
func (l *line) Vitals() domain.Vitals       { return domain.Vitals{} }
func (l *line) Err() error                  { return nil }

// converse says "hi" and waits for a line, as long as ctx.
func converse(ctx context.Context, c io.ReadWriteCloser) (ports.Link, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	_, _ = io.WriteString(c, "hi\n") // whether it is heard, the answer tells
	heard, err := bufio.NewReader(c).ReadString('\n')
	if err == nil {
		return &line{c, heard}, nil
	}
	_ = c.Close()
	if fault.KindOf(err) == fault.Internal {
		err = fault.Wrap(fault.Unavailable, err, "ended")
	}
	return nil, err
}

func dial(t *testing.T, ctx context.Context, host string) (ports.Link, error) {
	t.Helper()
	d := Dialer{Converse: converse}
	return d.DialLink(ctx, host, nil)
}

func TestALinkIsThereBehindWhatAShellSays(t *testing.T) {
	last := filepath.Join(t.TempDir(), "last")
	fakeSSH(t, `echo Welcome; echo; echo vev-carriage begins here; read word; echo "$word there"; cat >`+last)
	l, err := dial(t, t.Context(), "box")
	require.NoError(t, err)
	require.Equal(t, "hi there\n", l.(*link).Link.(*line).heard)
	_, err = io.WriteString(l.(*link).carriage, "the last")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	text, err := os.ReadFile(last)
	require.NoError(t, err)
	require.Equal(t, "the last", string(text), "what was written is delivered")
}

// What the conversation begins with need not wait for the helper, even where somebody may be asked first.
func TestTheFirstWordsGoAhead(t *testing.T) {
	fakeSSH(t, `read word; echo vev-carriage begins here; echo "$word there"; cat >/dev/null`)
	began := 0
	d := Dialer{
		Converse: func(ctx context.Context, c io.ReadWriteCloser) (ports.Link, error) {
			c.(*carriage).OnBegin(func() { began++ })
			require.Zero(t, began, "not before the helper has begun")
			return converse(ctx, c)
		},
		Questions: func(context.Context, string, ports.Ask) ([]string, func()) { return nil, func() {} },
	}
	ask := func(context.Context, protocol.Prompt) ([]byte, error) { return nil, errors.New("nothing is asked") }
	l, err := d.DialLink(t.Context(), "box", ask)
	require.NoError(t, err)
	require.Equal(t, "hi there\n", l.(*link).Link.(*line).heard)
	require.Equal(t, 1, began)
	require.NoError(t, l.Close())
}

func TestWhatSSHSaysBecomesOneLine(t *testing.T) {
	for _, c := range []struct {
		script string
		kind   fault.Kind
		msg    string
		hint   string
	}{
		{`echo "ssh: Could not resolve hostname box: No such host" >&2; exit 255`, fault.Unavailable, "ssh: Could not resolve hostname box: No such host", "ssh box"},
		{`echo "ssh: connect to host box port 22: Connection refused" >&2; exit 255`, fault.Unavailable, "ssh: connect to host box port 22: Connection refused", "ssh box"},
		{`echo "ssh: connect to host box port 22: Connection timed out" >&2; exit 255`, fault.Unavailable, "ssh: connect to host box port 22: Connection timed out", "ssh box"},
		{`echo "ann@box: Permission denied (publickey)." >&2; exit 255`, fault.Denied, "ssh: ann@box: Permission denied (publickey).", "ssh box"},
		{`echo "Host key verification failed." >&2; exit 255`, fault.Denied, "ssh does not know its host key", "ssh box"},
		{`printf '@@@\nREMOTE HOST IDENTIFICATION HAS CHANGED!\nx\nHost key verification failed.\n' >&2; exit 255`, fault.Denied, "its host key is not the one that ssh knows", "ssh box"},
		{`printf 'first\nsomething new\n' >&2; exit 255`, fault.Unavailable, "ssh: something new", "ssh -v box"},
		{`exit 255`, fault.Unavailable, "ssh failed without a word", "ssh -v box"},
		{`echo; echo "vev-carriage is absent"`, fault.Unsupported, "there is no vev there, neither as ~/.local/bin/vev nor in PATH", "vev host install box"},
		{`echo "No login."; exit 1`, fault.Unsupported, `its shell says "No login." and does not start vev`, "ssh box true"},
		{`echo "bad command" >&2; exit 127`, fault.Unsupported, "its shell does not start vev: bad command", "ssh box vev version"},
		{`exit 0`, fault.Unavailable, "ssh ended before vev began", "ssh box vev version"},
		{`echo vev-carriage begins here; echo "vev: no" >&2; exit 1`, fault.Unavailable, "vev ended there: vev: no", "ssh box vev doctor"},
		{`echo vev-carriage begins here`, fault.Unavailable, "vev ended there", "ssh box vev doctor"},
		{`yes | head -c 70000; read forever`, fault.Unsupported, "and does not start vev", "ssh box true"},
	} {
		fakeSSH(t, c.script)
		_, err := dial(t, t.Context(), "box")
		e, ok := errors.AsType[*fault.Error](err)
		require.True(t, ok, c.script)
		require.Contains(t, e.Msg, c.msg, c.script)
		require.Equal(t, c.kind, e.Kind, c.script)
		require.Contains(t, e.Hint, c.hint, c.script)
		require.LessOrEqual(t, len(e.Hint), fault.MaxText, "it travels whole")
	}
	t.Setenv("PATH", t.TempDir())
	_, err := dial(t, t.Context(), "box")
	require.Equal(t, fault.Unsupported, fault.KindOf(err))
	_, err = dial(t, t.Context(), "-oProxyCommand=x")
	require.Equal(t, fault.Usage, fault.KindOf(err))
}

// An attempt that is given up leaves no ssh, not even one that does not end when it is asked to.
func TestAnSSHThatDoesNotEndIsKilled(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	fakeSSH(t, `trap "" TERM; echo $$ >`+pidFile+`; while :; do sleep 0.1; done`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if b, _ := os.ReadFile(pidFile); len(b) > 0 {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	start := time.Now()
	_, err := dial(t, ctx, "box")
	require.Equal(t, fault.Canceled, fault.KindOf(err))
	require.GreaterOrEqual(t, time.Since(start), endGrace)
}

// An ssh that goes over a shared connection whose network is gone is silent: the attempt beside it makes one of its own.
// If that is not let in, the attempts after it do without.
func TestAnAttemptBesideASilentOneSharesNothing(t *testing.T) {
	link := `echo vev-carriage begins here; read word; echo "$word there"; cat >/dev/null`
	for _, own := range []string{link, `echo "box: Permission denied (publickey)." >&2; exit 255`} {
		dir := t.TempDir()
		fakeSSH(t, `case "$*" in *ControlPath=none*) `+own+`;; *) echo x >>`+dir+`/shared; while :; do sleep 0.1; done;; esac`)
		d := Dialer{Converse: converse}
		shared := func() (n int) {
			b, _ := os.ReadFile(dir + "/shared")
			return len(b) / 2
		}
		ctx, cancel := context.WithCancel(t.Context())
		ends := make(chan error)
		silent := func() {
			before := shared()
			go func() {
				_, err := d.DialLink(ctx, "box", nil)
				ends <- err
			}()
			require.Eventually(t, func() bool { return shared() == before+1 }, 10*time.Second, time.Millisecond)
		}
		silent()
		beside, err := d.DialLink(t.Context(), "box", nil)
		if own == link {
			require.NoError(t, err)
			require.NoError(t, beside.Close())
		} else {
			require.Equal(t, fault.Unavailable, fault.KindOf(err), "the silent one may come back")
			silent()
			cancel()
			require.Error(t, <-ends)
		}
		cancel()
		require.Error(t, <-ends)
		require.Empty(t, d.shared.running)
		require.Equal(t, own != link, d.shared.refused["box"])
	}
}

// A role that runs to its end: its first line comes back, and only that; what goes wrong is said as with a link.
func TestARoleSaysALine(t *testing.T) {
	var d Dialer
	fakeSSH(t, `case "$*" in *'exec "$v" _role;'*) echo Welcome; echo; echo vev-carriage begins here; echo the line; echo more;; esac`)
	line, err := d.RunRole(t.Context(), "box", "_role", 100, nil)
	require.NoError(t, err)
	require.Equal(t, "the line", string(line))
	for script, kind := range map[string]fault.Kind{
		`echo vev-carriage begins here; yes | tr -d '\n' | head -c 101; sleep 1`:    fault.Violation,
		`echo vev-carriage begins here; printf cut`:                                 fault.Unavailable,
		`echo vev-carriage begins here; echo "vev: unknown command" >&2; exit 2`:    fault.Unsupported,
		`echo vev-carriage begins here; echo "vev: it does not start" >&2; exit 1`:  fault.Unavailable,
		`echo; echo vev-carriage is absent`:                                         fault.Unsupported,
		`echo "ann@box: Permission denied (publickey)." >&2; exit 255`:              fault.Denied,
		`echo "ssh: connect to host box port 22: Connection refused" >&2; exit 255`: fault.Unavailable,
	} {
		fakeSSH(t, script)
		_, err := d.RunRole(t.Context(), "box", "_role", 100, nil)
		require.Equal(t, kind, fault.KindOf(err), "%s: %v", script, err)
	}
}

//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/quic"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// overQUIC dials the proxy of a home, which is on this machine, as ssh would lead to it.
type overQUIC struct {
	*home
	options []string // of the bootstrap
	runs    int      // of it
	line    []byte   // of the last one
}

func (q *overQUIC) RunRole(_ context.Context, _, role string, _ int, _ ports.Ask) ([]byte, error) {
	q.runs++
	q.line = []byte(strings.TrimSpace(q.run(append([]string{role}, q.options...)...)))
	return bytes.Clone(q.line), nil
}

// run runs a command of a user without privileges, whose other processes may read nothing that they could as root.
func (q *overQUIC) run(args ...string) string {
	q.t.Helper()
	return output(q.t, unprivileged(q.command(args...)))
}

func unprivileged(cmd *exec.Cmd) *exec.Cmd {
	if os.Getuid() != 0 {
		return cmd
	}
	return asNobody(cmd)
}

func (q *overQUIC) dialer() *quic.Dialer {
	return &quic.Dialer{
		Roles: q,
		Locate: func(context.Context, domain.Host) (ports.Location, error) {
			return ports.Location{Name: "127.0.0.1"}, nil
		},
		Converse: func(ctx context.Context, c io.ReadWriteCloser) (ports.Link, error) {
			client, err := brokeripc.Dial(ctx, c, "test")
			if err != nil {
				return nil, err
			}
			return client, nil
		},
	}
}

// TestTheProxyHidesItsSecrets: what lets a broker in is in no argument, environment, log or file, and the proxy's memory is
// neither its user's other processes' to read nor for a core file.
func TestTheProxyHidesItsSecrets(t *testing.T) {
	q := &overQUIC{home: newHome(t)}
	if os.Getuid() == 0 {
		output(t, exec.Command("chown", "-R", strconv.Itoa(nobody), q.dir))
		require.NoError(t, os.Chmod(filepath.Dir(q.dir), 0o711))
	}
	d := q.dialer()
	link, err := d.DialLink(t.Context(), "far", nil)
	require.NoError(t, err)
	stream, err := link.OpenStream(t.Context(), protocol.LocalHost, protocol.StartIfNeeded, nil)
	require.NoError(t, err)
	talk, err := sessionwire.Client(t.Context(), stream, "test", protocol.FeatureNone)
	require.NoError(t, err)
	require.NoError(t, talk.Send(&protocol.Request{ID: 1, Body: &protocol.New{Create: protocol.Create{
		Name: "work", Command: domain.Command{Argv: []string{"sh", "-c", "env; exec cat"}, Dir: "/"},
	}}}))
	answer, err := talk.Receive()
	require.NoError(t, err)
	require.Nil(t, answer.(*protocol.Result).Failure)
	unused := []byte(q.run(quic.BootstrapRole))
	require.Empty(t, q.role(quic.BootstrapRole))
	proxy := q.one("_broker-mux-quic-proxy")

	var secrets [][]byte
	for _, line := range [][]byte{q.line, unused} {
		var ready struct{ Token []byte }
		require.NoError(t, json.Unmarshal(line, &ready))
		require.Len(t, ready.Token, 32)
		raw := ready.Token
		secrets = append(secrets, raw, []byte(hex.EncodeToString(raw)), []byte(base64.StdEncoding.EncodeToString(raw)),
			[]byte(base64.URLEncoding.EncodeToString(raw)), []byte(base64.RawStdEncoding.EncodeToString(raw)))
	}
	searched := 0
	search := func(where string, text []byte) {
		searched++
		for _, secret := range secrets {
			require.False(t, bytes.Contains(text, secret), "%s has a secret", where)
		}
		require.False(t, bytes.Contains(text, []byte("PRIVATE KEY")), "%s has a key", where)
	}
	for _, pid := range append(descendants(os.Getpid()), proxy) {
		for _, name := range []string{"cmdline", "environ"} {
			search(strconv.Itoa(pid)+" "+name, []byte(procFile(pid, name)))
		}
	}
	require.Greater(t, searched, 4)
	searched = 0
	require.NoError(t, filepath.WalkDir(q.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			search(path, text)
		}
		return err
	}))
	require.Positive(t, searched)
	search("the session", []byte(q.run("capture", "work", "--history", "1000")))

	require.NoError(t, link.Close())
	require.NoError(t, reads(t, q.one("_daemon"), "environ"), "others are not hidden")
	require.Error(t, reads(t, proxy, "environ"))
	require.Error(t, reads(t, proxy, "maps"))
	q.run("kill", "work")
}

// reads has another process of the proxy's user read something of a process.
func reads(t *testing.T, pid int, name string) error {
	t.Helper()
	return unprivileged(exec.Command("cat", filepath.Join("/proc", strconv.Itoa(pid), name))).Run()
}

// TestTheProxyEndsWithItsDaemon: what leads to a daemon goes some time after that has gone, whoever is connected, and with it
// all that it knew: the next link begins with ssh again.
func TestTheProxyEndsWithItsDaemon(t *testing.T) {
	q := &overQUIC{home: newHome(t), options: []string{"--spare", "500ms"}}
	if os.Getuid() == 0 {
		output(t, exec.Command("chown", "-R", strconv.Itoa(nobody), q.dir))
		require.NoError(t, os.Chmod(filepath.Dir(q.dir), 0o711))
	}
	q.run("new", "work", "-d", "--", "cat")
	d := q.dialer()
	link, err := d.DialLink(t.Context(), "far", nil)
	require.NoError(t, err)
	daemon, proxy := q.one("_daemon"), q.one("_broker-mux-quic-proxy")

	// A link alone, without a stream, is nothing to stay for once there is no daemon; another one comes back by its key before.
	beside, err := d.DialLink(t.Context(), "far", nil)
	require.NoError(t, err)
	require.NoError(t, beside.Close())
	require.Equal(t, 1, q.runs)
	require.NoError(t, syscall.Kill(daemon, syscall.SIGTERM))
	waitGone(t, daemon)
	waitGone(t, proxy)
	eventually(t, "the link has ended with it", func() bool { return link.Err() != nil })
	require.NoError(t, link.Close())
	require.False(t, d.Resumable("far"))
	require.Empty(t, q.role("_broker-mux-quic-proxy"))

	q.run("new", "work", "-d", "--", "cat")
	link, err = d.DialLink(t.Context(), "far", nil)
	require.NoError(t, err)
	require.Equal(t, 2, q.runs, "nobody is known any more")
	require.NoError(t, link.Close())
	q.run("kill", "work")
}

package askpass

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// meet gives the two ends of a socket as a helper and the desk have them.
func meet(t *testing.T) (helper *net.UnixConn, desk net.Conn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "vev")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	defer l.Close()
	conn, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	desk, err = l.Accept()
	require.NoError(t, err)
	return conn.(*net.UnixConn), desk
}

func idOf(t *testing.T, env []string) string {
	t.Helper()
	i := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, IDVariable+"=") })
	return env[i][len(IDVariable)+1:]
}

// Each question goes to who wants its dial, and to nobody when that is over.
func TestQuestionsGoToTheirOwnDial(t *testing.T) {
	d := NewDesk("/x/askpass")
	var served []error
	ask := func(id, text string) ([]byte, error) {
		helper, desk := meet(t)
		ended := make(chan error)
		go func() { ended <- d.Serve(desk) }()
		answer, err := Question(helper, id, text)
		served = append(served, <-ended)
		return answer, err
	}
	open := func(host, answer string) (string, func()) {
		env, done := d.Open(t.Context(), host, func(ctx context.Context, q protocol.Prompt) ([]byte, error) {
			require.Equal(t, host, q.Host)
			if answer == "" {
				<-ctx.Done()
				return nil, fault.New(fault.Canceled, "no")
			}
			require.Equal(t, strings.HasPrefix(q.Text, "sure"), q.Echo)
			return []byte(answer + " to " + q.Text), nil
		})
		require.Contains(t, env, "SSH_ASKPASS=/x/askpass")
		return idOf(t, env), done
	}
	a, doneA := open("a", "one")
	b, doneB := open("b", "two")
	answer, err := ask(b, "password: \x1b[2J")
	require.NoError(t, err)
	require.Equal(t, "two to password:  [2J", string(answer))
	answer, err = ask(a, "sure (yes/no)? ")
	require.NoError(t, err)
	require.Equal(t, "one to sure (yes/no)?", string(answer))
	answer, err = ask(a, strings.Repeat("x", maxQuestion+1))
	require.NoError(t, err)
	require.Len(t, answer, len("one to ")+fault.MaxText)
	require.Equal(t, []error{nil, nil, nil}, served)

	doneA()
	for _, id := range []string{a, "", strings.Repeat("0", idDigits)} {
		_, err = ask(id, "password")
		require.Equal(t, fault.Canceled, fault.KindOf(err))
		require.Equal(t, fault.Violation, fault.KindOf(served[len(served)-1]))
	}
	doneB()
	require.Empty(t, d.dials)

	c, doneC := open("c", "")
	ended := make(chan error)
	go func() {
		_, err := ask(c, "password")
		ended <- err
	}()
	doneC()
	require.Equal(t, fault.Canceled, fault.KindOf(<-ended), "a dial that is given up waits for no answer")
}

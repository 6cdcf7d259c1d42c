package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
)

func TestAgentsPlaceLeadsWhereItIsPointed(t *testing.T) {
	home, err := os.MkdirTemp("", "vev")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	t.Setenv(homeEnv, home)
	d, err := Open()
	require.NoError(t, err)
	id := domain.SessionID{1, 2, 3}
	path := d.Path(id)
	require.NotEmpty(t, path)
	for _, target := range []string{"/tmp/one", "/tmp/two"} {
		require.NoError(t, d.Point(id, target))
		got, err := os.Readlink(path)
		require.NoError(t, err)
		require.Equal(t, target, got)
	}
	require.NoError(t, d.Point(id, ""))
	_, err = os.Lstat(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, d.Point(id, ""), "nowhere twice")
}

func TestTheNewestClientsAgentIsOffered(t *testing.T) {
	home, err := os.MkdirTemp("", "vev")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	t.Setenv(homeEnv, home)
	d, err := Open()
	require.NoError(t, err)
	for _, socket := range []string{"/tmp/one", "/tmp/two", "/tmp/two"} {
		require.NoError(t, d.OfferAgent(socket))
		got, err := os.Readlink(d.DialAgent())
		require.NoError(t, err)
		require.Equal(t, socket, got)
	}
	left, err := os.ReadDir(d.Run())
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestNoAgentsPlaceThatProgramsCannotReach(t *testing.T) {
	t.Setenv(homeEnv, filepath.Join(t.TempDir(), strings.Repeat("d", 100)))
	d, err := Open()
	require.NoError(t, err)
	require.Empty(t, d.Path(domain.SessionID{}))
	require.Empty(t, d.DialAgent())
	require.NoError(t, d.OfferAgent("/tmp/one"), "ssh has the one of its own")
}

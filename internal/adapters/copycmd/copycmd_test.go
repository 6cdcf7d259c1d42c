package copycmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
)

func TestTextArrivesAsItIs(t *testing.T) {
	to := filepath.Join(t.TempDir(), "clipboard")
	text := bytes.Repeat([]byte("a $(touch x) `b` \x00\n"), 10_000)
	require.NoError(t, Command{"sh", "-c", `cat >"$1"`, "sh", to}.Copy(t.Context(), text))
	got, err := os.ReadFile(to)
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, got))
}

func TestACommandMayReadNothing(t *testing.T) {
	require.NoError(t, Command{"true"}.Copy(t.Context(), make([]byte, 1<<20)))
}

func TestWhatACommandSaysIsTold(t *testing.T) {
	err := Command{"sh", "-c", "echo no display >&2; echo more >&2; exit 1"}.Copy(t.Context(), nil)
	require.ErrorContains(t, err, "copy_command sh: no display: exit status 1")
	err = Command{"/nonexistent/xsel"}.Copy(t.Context(), nil)
	require.ErrorContains(t, err, "no such file")
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
}

func TestACommandThatHangsIsKilled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := Command{"sh", "-c", "sleep 60 & sleep 60"}.Copy(ctx, nil)
	require.Equal(t, fault.Timeout, fault.KindOf(err))
}

package domain

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
)

func TestCheckName(t *testing.T) {
	for _, ok := range []string{"0", "w", "a.b_c-d", "A9", strings.Repeat("x", MaxNameBytes)} {
		require.NoError(t, CheckName(ok), ok)
	}
	for _, bad := range []string{"", ".a", "-a", "_a", "a b", "a/b", "é", "a\n", strings.Repeat("x", MaxNameBytes+1)} {
		require.Equal(t, fault.Usage, fault.KindOf(CheckName(bad)), "%q", bad)
	}
}

func TestLowestFreeFillsGaps(t *testing.T) {
	taken := map[string]bool{"0": true, "1": true, "3": true}
	require.Equal(t, "2", LowestFree(func(n string) bool { return taken[n] }))
	require.Equal(t, "0", LowestFree(func(string) bool { return false }))
}

func TestNearest(t *testing.T) {
	names := []string{"work", "web", "logs"}
	require.Equal(t, "work", Nearest("wrok", names))
	require.Equal(t, "logs", Nearest("log", names))
	require.Equal(t, "", Nearest("database", names))
	require.Equal(t, "", Nearest("x", nil))
}

func TestShellCode(t *testing.T) {
	require.Equal(t, 7, ExitStatus{Code: 7}.ShellCode())
	require.Equal(t, 137, ExitStatus{Signal: 9}.ShellCode())
}

package talk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func TestEnvironmentAtItsLimits(t *testing.T) {
	many := make([]string, protocol.MaxEnvEntries)
	for i := range many {
		many[i] = fmt.Sprintf("V%d=x", i)
	}
	_, err := Environment(many, nil)
	require.NoError(t, err, "as many as may be")
	env, err := Environment(many, []string{"V7=y"})
	require.NoError(t, err, "a replaced variable is not one more")
	require.Contains(t, env, "V7=y")
	require.NotContains(t, env, "V7=x")
	_, err = Environment(many, []string{"W=x"})
	require.Equal(t, fault.Limit, fault.KindOf(err))
	require.ErrorContains(t, err, "257 variables")

	long := "L=" + strings.Repeat("x", protocol.MaxEnvEntryBytes-2)
	_, err = Environment([]string{long}, nil)
	require.NoError(t, err)
	_, err = Environment([]string{long + "x"}, nil)
	require.Equal(t, fault.Limit, fault.KindOf(err))
	require.ErrorContains(t, err, "variable L has 32769 bytes")

	var wide []string
	for i := range maxEnvBytes/protocol.MaxEnvEntryBytes + 1 {
		wide = append(wide, fmt.Sprintf("%02d", i)+long[2:]+"")
	}
	for i := range wide {
		wide[i] = wide[i][:2] + "=" + wide[i][3:]
	}
	_, err = Environment(wide[:len(wide)-1], nil)
	require.NoError(t, err)
	_, err = Environment(wide, nil)
	require.Equal(t, fault.Limit, fault.KindOf(err))

	for _, bad := range []string{"", "X", "=x"} {
		_, err = Environment(nil, []string{bad})
		require.Equal(t, fault.Usage, fault.KindOf(err), bad)
	}
}

func TestCommandAtItsLimits(t *testing.T) {
	require.NoError(t, checkCommand(make([]string, protocol.MaxArgs)))
	require.Equal(t, fault.Limit, fault.KindOf(checkCommand(make([]string, protocol.MaxArgs+1))))
	require.NoError(t, checkCommand([]string{strings.Repeat("x", protocol.MaxArgBytes)}))
	require.Equal(t, fault.Limit, fault.KindOf(checkCommand([]string{strings.Repeat("x", protocol.MaxArgBytes), "x"})))
}

func TestWorkingDir(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	for given, want := range map[string]string{"": dir, "sub": dir + "/sub", "sub/..": dir, dir + "/sub": dir + "/sub"} {
		got, err := absoluteDir(dir, given)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, bad := range []string{"none", "file", "file/x"} {
		_, err := absoluteDir(dir, bad)
		require.Equal(t, fault.Usage, fault.KindOf(err), bad)
	}
}

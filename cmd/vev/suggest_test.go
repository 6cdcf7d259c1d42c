package main

import (
	"errors"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
)

func TestAHintFromAfarSaysTheAddress(t *testing.T) {
	for _, c := range []struct{ address, hint, want string }{
		{"desk:work", "clear the line with vev key work C-c", "clear the line with vev key desk:work C-c"},
		{"ssh://ann@desk:22/work", "there are no sessions; vev new work makes one", "there are no sessions; vev new ssh://ann@desk:22/work makes one"},
		{"desk:work", "attach to it with vev attach work", "attach to it with vev attach desk:work"},
		{"desk:ls", "vev ls shows what there is", "vev ls shows what there is"},
		{"desk:", "vev new makes one", "vev new makes one"},
		{"work", "attach to it with vev attach work", "attach to it with vev attach work"},
		{"desk:work", "", ""},
	} {
		cmd := &cobra.Command{GroupID: groupSessions}
		require.NoError(t, cmd.Flags().Parse([]string{c.address}))
		var e *fault.Error
		require.ErrorAs(t, afar(cmd, fault.New(fault.NotFound, "no").WithHint("%s", c.hint)), &e)
		require.Equal(t, c.want, e.Hint)
	}
	other := errors.New("other")
	require.Equal(t, other, afar(&cobra.Command{GroupID: groupSessions}, other))
}

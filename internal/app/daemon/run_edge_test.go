package daemon

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/protocol"
)

// One answer has as much output as a message may, and the next has the rest.
func TestOutputOfARunAtTheEdgeOfAnAnswer(t *testing.T) {
	for over := range 2 {
		inWorld(t, func(w *world) {
			p := w.shell(true)
			started := w.begin("ls")
			p.print(markStart + strings.Repeat("x", protocol.MaxRunBytes+over))
			synctest.Wait()
			require.Len(t, w.output(started.Run, 0).Data, protocol.MaxRunBytes)
			p.print("\x1b]133;D;0\a" + markPrompt)
			synctest.Wait()
			rest := w.output(started.Run, protocol.MaxRunBytes)
			require.Len(t, rest.Data, over)
			require.True(t, rest.Ended)
		})
	}
}

package client

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/protocol"
)

// watching runs f beside a live view of 20x5 of a session that has printed lines 0 to 49.
func watching(t *testing.T, f func(a *attachment)) {
	t.Helper()
	attached(t, func(a *attachment) {
		a.opts.Attach.ReadOnly, a.opts.Watch, a.opts.Prefetch = true, true, 100
		for i := range 50 {
			_, _ = fmt.Fprintf(a.daemon.term, "line %d\r\n", i)
		}
	}, f)
}

func TestALiveViewIsLeftByQ(t *testing.T) {
	for _, keys := range []string{"q", "\x03", "\x1b[113u", "xq", lead + "d"} {
		watching(t, func(a *attachment) {
			a.types(keys)
			r, err := a.ends(time.Second)
			require.NoError(t, err, "%q", keys)
			require.Equal(t, protocol.EndDetached, r.Reason)
			require.Empty(t, a.daemon.typed())
		})
	}
}

func TestALiveViewScrolls(t *testing.T) {
	for keys, top := range map[string]string{
		"\x1b[5~": "line 42       [4/46]", "k": "line 46       [0/46]", "g": "line 0       [46/46]",
		"\x1b[Ag": "line 0       [46/46]",
	} {
		watching(t, func(a *attachment) {
			a.types(keys)
			require.Contains(t, a.term.text(), top, "%q", keys)
			a.types("q")
			a.shows("line 46", "line 47", "line 48", "line 49")
			a.types("q")
			r, err := a.ends(time.Second)
			require.NoError(t, err)
			require.Equal(t, protocol.EndDetached, r.Reason)
			require.Empty(t, a.daemon.typed())
		})
	}
}

func TestALiveViewSaysItsKeys(t *testing.T) {
	watching(t, func(a *attachment) {
		a.types("\x1b[200~q\x1b[201~")
		a.types("x")
		require.Contains(t, a.term.text(), "live view: q leave")
		require.Empty(t, a.daemon.typed())
	})
}

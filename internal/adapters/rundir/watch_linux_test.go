package rundir

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/bubble"
)

func TestWatcherWithoutInotifyLooksByItself(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := &watcher{stopped: make(chan struct{})}
		w.blind.Store(true)
		require.NoError(t, w.follow(nil))
		begin := time.Now()
		require.NoError(t, w.wait(0))
		require.Equal(t, blindCheck, time.Since(begin))
		begin = time.Now()
		require.NoError(t, w.wait(time.Second))
		require.Equal(t, time.Second, time.Since(begin))
		w.stop()
		require.ErrorIs(t, w.wait(0), os.ErrClosed)
	})
}

// Other programs of the user may have taken all there is: a service must start nevertheless.
func TestClaimWithoutInotify(t *testing.T) {
	d := home(t)
	w := &watcher{stopped: make(chan struct{})}
	w.blind.Store(true)
	c, err := d.hold(t.Context(), "svc", w)
	require.NoError(t, err)
	require.NoError(t, c.Listen())
	conn, err := d.Dial(t.Context(), "svc")
	require.NoError(t, err)
	conn.Close()
	require.NoError(t, os.Remove(d.Run()+"/svc.sock"))
	require.NoError(t, c.ensure(false), "what the keeper does at its own time")
	comesBack(t, d)
	require.NoError(t, c.Close())
}

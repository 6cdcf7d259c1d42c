package wake

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAMachineThatDoesNotSleep(t *testing.T) {
	w := New()
	require.NotNil(t, w.timer, "this kernel tells")
	before := w.Slept()
	require.InDelta(t, before, w.Slept(), float64(time.Millisecond))
	require.GreaterOrEqual(t, before, -time.Millisecond)
	require.Empty(t, w.Woke())
	require.NoError(t, w.Close())
}

// reads are a timer's: each an error, or nil for its time.
type reads struct{ errs []error }

func (r *reads) Read([]byte) (int, error) {
	err := r.errs[0]
	r.errs = r.errs[1:]
	return 8, err
}

func TestTheKernelsWordIsPassedOn(t *testing.T) {
	set := &os.PathError{Op: "read", Path: "timer", Err: unix.ECANCELED}
	w := &Watch{woke: make(chan struct{}, 1)}
	r := &reads{errs: []error{set, set, set, os.ErrClosed, nil}}
	w.listen(r)
	require.Len(t, r.errs, 1, "it ends with the timer")
	require.Len(t, w.Woke(), 1, "one note for any number")
	w.listen(r) // its time has come
	require.Empty(t, r.errs)
}

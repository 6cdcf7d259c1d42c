package client

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/protocol"
)

// guessing runs f beside a client that always guesses, at a prompt where the program has echoed one character. Its
// daemon answers nothing by itself.
func guessing(t *testing.T, f func(a *attachment)) {
	t.Helper()
	attached(t, func(a *attachment) { a.opts.Predict, a.daemon.mute = predict.Always, true }, func(a *attachment) {
		a.daemon.prints("$ ")
		synctest.Wait()
		a.types("e")
		require.Equal(t, "$", first(a.term.text()), "nothing is shown before the program echoes")
		a.answers("e")
		require.Equal(t, "$ e", first(a.term.text()))
		f(a)
	})
}

func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// answers is the state in which all input has had its effect, which is output.
func (a *attachment) answers(output string) {
	a.daemon.set(func() { a.daemon.written = a.daemon.received; a.daemon.echo = a.daemon.received })
	a.daemon.prints(output)
	synctest.Wait()
}

func TestKeyIsShownBeforeItsEcho(t *testing.T) {
	guessing(t, func(a *attachment) {
		a.types("c")
		a.types("ho")
		require.Equal(t, "$ echo", first(a.term.text()))
		a.types("\x1b[D")
		a.types("\x7f")
		require.Equal(t, "$ eco", first(a.term.text()))
		writes := a.term.writes
		a.answers("cho\b\bo \b\b")
		require.Equal(t, "$ eco", first(a.term.text()))
		require.Equal(t, writes, a.term.writes, "nothing was wrong, so nothing is painted")
	})
}

func TestWrongKeyGoesWithoutAState(t *testing.T) {
	guessing(t, func(a *attachment) {
		a.types("c")
		require.Equal(t, "$ ec", first(a.term.text()))
		a.daemon.says(&protocol.Output{InputAcked: 2, Echo: 1})
		synctest.Wait()
		require.Equal(t, "$ ec", first(a.term.text()), "it may still be answered")
		a.daemon.says(&protocol.Output{InputAcked: 2, Echo: 2})
		synctest.Wait()
		require.Equal(t, "$ e", first(a.term.text()))
		a.types("h")
		require.Equal(t, "$ e", first(a.term.text()), "and the next one is not shown")
	})
}

func TestKeysAreGuessedWhileThereIsNoConnection(t *testing.T) {
	guessing(t, func(a *attachment) {
		a.daemon.set(func() {
			a.daemon.dialErr = func(int) error { return errCut }
		})
		a.daemon.cut(true)
		a.types("cho")
		require.Equal(t, "$ echo", first(a.term.text()))
		a.daemon.set(func() { a.daemon.dialErr = nil })
		time.Sleep(2 * time.Second)
		require.Equal(t, "$ e", first(a.term.text()), "a new epoch: nothing of it is confirmed")
		a.answers("cho")
		require.Equal(t, "$ echo", first(a.term.text()))
	})
}

func TestReadOnlyIsNotGuessed(t *testing.T) {
	attached(t, func(a *attachment) {
		a.opts.Predict, a.opts.Attach.ReadOnly = predict.Always, true
	}, func(a *attachment) {
		require.False(t, a.client.guesser.active.Load())
	})
}

func TestStuckTerminalDoesNotHoldTheKeysOfAGuess(t *testing.T) {
	guessing(t, func(a *attachment) {
		a.term.setStuck(true)
		a.types("c")
		for range 100 {
			a.types("xyz")
		}
		require.Len(t, a.daemon.typed(), 302)
		a.types(lead + "d")
		a.term.setStuck(false)
		r, err := a.ends(byeGrace)
		require.NoError(t, err)
		require.Equal(t, protocol.EndDetached, r.Reason)
	})
}

func TestMoreKeysThanAreKeptForAGuess(t *testing.T) {
	guessing(t, func(a *attachment) {
		a.client.screen.take() // somebody else draws for long
		for range len(a.client.guesser.left) + 1 {
			a.types("x")
		}
		a.client.screen.give()
		synctest.Wait()
		require.Equal(t, "$ e", first(a.term.text()))
		a.types("y")
		require.Equal(t, "$ e", first(a.term.text()))
	})
}

// The link decides, by the round trips that the client measures.
func TestRoundTripDecides(t *testing.T) {
	for _, c := range []struct {
		rtt    time.Duration
		guides bool
	}{{10 * time.Millisecond, false}, {100 * time.Millisecond, true}} {
		attached(t, func(a *attachment) { a.daemon.mute = true }, func(a *attachment) {
			require.False(t, a.client.guesser.active.Load(), "the attach was answered at once")
			for range rttSamples {
				a.types("e")
				time.Sleep(c.rtt)
				a.answers("e")
			}
			require.Equal(t, c.guides, a.client.guesser.active.Load())
			time.Sleep(ackTime) // acknowledgements that wait at the daemon measure nothing
			a.types("x")
			time.Sleep(c.rtt + ackTime)
			a.daemon.set(func() { a.daemon.written = a.daemon.received })
			a.daemon.says(&protocol.Output{InputAcked: a.daemon.received})
			synctest.Wait()
			rtt, known := a.client.contact.rtt()
			require.True(t, known)
			require.Equal(t, c.rtt, rtt)
		})
	}
}

const ackTime = 50 * time.Millisecond

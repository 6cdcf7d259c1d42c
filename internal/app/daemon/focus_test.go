package daemon

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/protocol"
)

func TestProgramsAreToldThatNobodyIsThere(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		first := w.attach(protocol.Attach{Session: "a"})
		synctest.Wait()
		require.Empty(t, p.typed(), "the program has not asked")
		p.print("\x1b[?1004h")
		synctest.Wait()
		second := w.attach(protocol.Attach{Session: "a"})
		watcher := w.attach(protocol.Attach{Session: "a", ReadOnly: true})
		first.p.Close()
		synctest.Wait()
		require.Empty(t, p.typed(), "somebody is there all the time")
		second.p.Close()
		synctest.Wait()
		require.Equal(t, "\x1b[O", p.typed(), "who only watches does not count")
		second.resume()
		synctest.Wait()
		require.Equal(t, "\x1b[O\x1b[I", p.typed())
		second.p.toServer <- &protocol.Detach{}
		second.settle()
		synctest.Wait()
		require.Equal(t, "\x1b[O\x1b[I\x1b[O", p.typed())
		watcher.p.Close()
	})
}

func TestFocusIsThatOfAllClientsTogether(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.print("\x1b[?1004h")
		synctest.Wait()
		one, two := w.attachAt(desk), w.attachAt(desk)
		require.Equal(t, "\x1b[I", p.typed())
		one.focus(false)
		one.focus(true)
		synctest.Wait()
		require.Equal(t, "\x1b[I", p.typed(), "the other has said nothing, and counts")
		two.focus(false)
		synctest.Wait()
		require.Equal(t, "\x1b[I", p.typed())
		one.focus(false)
		synctest.Wait()
		require.Equal(t, "\x1b[I\x1b[O", p.typed(), "nobody has it any more")
		two.focus(true)
		one.p.Close()
		synctest.Wait()
		require.Equal(t, "\x1b[I\x1b[O\x1b[I", p.typed())
	})
}

package client

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/keys"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

func TestMouseIsPlacedInTheSession(t *testing.T) {
	const press, release, move = keys.MousePress, keys.MouseRelease, keys.MouseMotion
	at := func(b keys.Button, a keys.MouseAction, x, y int) keys.Event {
		return keys.Event{Kind: keys.MouseEvent, Mouse: keys.Mouse{Button: b, Action: a, X: x, Y: y}}
	}
	modes := vt.Modes{Mouse: vt.MouseAny, MouseEncoding: vt.MouseSGR}
	window := &shown{modes: modes, cols: 80, rows: 24, x: 30, y: 4}
	larger := &shown{modes: modes, cols: 10, rows: 3}
	for _, c := range []struct {
		name   string
		s      *shown
		events []keys.Event
		want   string
	}{
		{"shifted", window, []keys.Event{at(0, press, 0, 0), at(0, release, 1, 2)}, "\x1b[<0;31;5M\x1b[<0;32;7m"},
		{"the last cell", larger, []keys.Event{at(0, press, 9, 2)}, "\x1b[<0;10;3M"},
		{"right of it", larger, []keys.Event{at(0, press, 10, 2), at(0, move, 9, 2)}, "\x1b[<32;10;3M"},
		{"below it", larger, []keys.Event{at(0, press, 9, 3), at(0, release, 9, 3)}, ""},
		{"motion beside it", larger, []keys.Event{at(keys.ButtonNone, move, 10, 0)}, ""},
		{"the wheel beside it", larger, []keys.Event{at(keys.WheelUp, press, 10, 0)}, ""},
		{
			"a drag out of it", larger,
			[]keys.Event{at(0, press, 5, 1), at(0, move, 40, 1), at(0, release, 40, 20), at(keys.ButtonNone, move, 40, 20)},
			"\x1b[<0;6;2M\x1b[<32;10;2M\x1b[<0;10;3m",
		},
		{"the wheel holds nothing", larger, []keys.Event{at(keys.WheelUp, press, 5, 1), at(0, move, 40, 1)}, "\x1b[<64;6;2M"},
		{"nothing is shown yet", &shown{modes: modes}, []keys.Event{at(0, press, 0, 0)}, ""},
		{"X10", &shown{modes: vt.Modes{Mouse: vt.MouseX10}, cols: 80, rows: 24}, []keys.Event{at(0, press, 0, 1), at(0, release, 0, 1)}, "\x1b[M !\""},
		{"nobody asked", &shown{cols: 80, rows: 24}, []keys.Event{at(0, press, 0, 1)}, ""},
	} {
		var m mouse
		var out []byte
		for _, e := range c.events {
			out = m.append(out, e, c.s)
		}
		require.Equal(t, c.want, string(out), c.name)
	}
}

func TestTheTerminalReportsTheMouseInSGR(t *testing.T) {
	for _, enc := range []vt.MouseEncoding{vt.MouseDefault, vt.MouseUTF8, vt.MouseURXVT, vt.MouseSGRPixels} {
		for mouse, want := range map[vt.MouseTracking]vt.Modes{
			vt.MouseNone: {},
			vt.MouseX10:  {Mouse: vt.MouseNormal, MouseEncoding: vt.MouseSGR},
			vt.MouseAny:  {Mouse: vt.MouseAny, MouseEncoding: vt.MouseSGR},
		} {
			want.BracketedPaste = true
			require.Equal(t, want, terminalModes(vt.Modes{Mouse: mouse, MouseEncoding: enc}))
		}
	}
}

func TestMouseIsEncodedForTheProgram(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.types("\x1b[<0;2;1M")
		require.Empty(t, a.daemon.typed(), "the program has not asked for the mouse")
		a.daemon.prints("\x1b[?1000h")
		synctest.Wait()
		require.Equal(t, vt.MouseSGR, a.term.vt.Modes().MouseEncoding)
		a.types("\x1b[<0;2;1M")
		require.Equal(t, "\x1b[M \"!", a.daemon.typed())
		a.types("\x1b[<0;2")
		require.Equal(t, "\x1b[M \"!", a.daemon.typed(), "cut by a read")
		a.types(";1m")
		require.Equal(t, "\x1b[M \"!\x1b[M#\"!", a.daemon.typed())
	})
}

func TestMouseFollowsTheWindow(t *testing.T) {
	attached(t, func(a *attachment) { a.daemon.obedient = false }, func(a *attachment) {
		a.daemon.resize(60, 20)
		a.daemon.prints("\x1b[?1002h\x1b[?1006h\x1b[20;60H")
		synctest.Wait()
		a.types("\x1b[<0;1;1M")
		require.Equal(t, "\x1b[<0;41;16M", a.daemon.typed(), "the terminal shows the last 20x5 of 60x20")
		a.daemon.prints("\x1b[H")
		synctest.Wait()
		a.types("\x1b[<0;1;1m")
		require.Equal(t, "\x1b[<0;41;16M\x1b[<0;1;1m", a.daemon.typed())
	})
}

// TestMouseIsLeftOutWithoutRoom: reports that grow on their way never take more room than there is.
func TestMouseIsLeftOutWithoutRoom(t *testing.T) {
	for free := 1; free <= 40; free++ {
		attached(t, func(a *attachment) { a.daemon.obedient = false }, func(a *attachment) {
			a.daemon.resize(120, 105)
			a.daemon.prints("\x1b[?1002h\x1b[?1006h\x1b[105;120H")
			synctest.Wait()
			a.daemon.set(func() { a.daemon.mute = true })
			keys := strings.Repeat("x", protocol.InputWindowBytes+lookaheadBytes-free)
			a.types(keys)
			a.types("\x1b[<0;1;1M\x1b[<32;2;1Myy")
			require.LessOrEqual(t, a.client.out.in.kept, protocol.InputWindowBytes+lookaheadBytes)
			a.daemon.set(func() { a.daemon.mute = false })
			a.daemon.mu.Lock()
			a.daemon.written = a.daemon.received
			a.daemon.post(a.daemon.conn, &protocol.Output{InputAcked: a.daemon.written})
			a.daemon.mu.Unlock()
			synctest.Wait()
			time.Sleep(time.Second)
			synctest.Wait()
			got := strings.TrimPrefix(a.daemon.typed(), keys)
			got = strings.Replace(got, "\x1b[<0;101;101M", "", 1)
			require.Equal(t, "yy", strings.Replace(got, "\x1b[<32;102;101M", "", 1), "%d bytes were free", free)
		})
	}
}

// TestMouseReportsAtEverySplit: what passed of a report before it was known for one is the begin of what the program gets.
func TestMouseReportsAtEverySplit(t *testing.T) {
	const in = "a\x1b[<0;2;1Mb"
	for cut := range len(in) {
		attached(t, nil, func(a *attachment) {
			a.daemon.prints("\x1b[?1000h")
			synctest.Wait()
			a.types(in[:cut])
			a.types(in[cut:])
			require.Equal(t, "a\x1b[M \"!b", a.daemon.typed(), "cut at %d", cut)
		})
	}
}

func TestReadOnlyMouseIsNotSent(t *testing.T) {
	attached(t, func(a *attachment) { a.opts.Attach.ReadOnly = true }, func(a *attachment) {
		a.daemon.prints("\x1b[?1000h\x1b[?1006h")
		synctest.Wait()
		a.types("\x1b[<0;1;1M")
		require.Zero(t, a.daemon.inputs)
	})
}

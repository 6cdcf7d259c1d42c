package keys

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

func mouseAt(b Button, a MouseAction, x, y int, mods Mods) Event {
	return Event{Kind: MouseEvent, Mods: mods, Mouse: Mouse{Button: b, Action: a, X: x, Y: y}}
}

// TestMouseEncodings has one event in each encoding of xterm's ctlseqs, "Extended coordinates", and others at the edges.
func TestMouseEncodings(t *testing.T) {
	for _, c := range []struct {
		name string
		enc  vt.MouseEncoding
		e    Event
		want string
	}{
		{"bytes", vt.MouseDefault, mouseAt(ButtonLeft, MousePress, 0, 1, 0), "\x1b[M !\""},
		{"bytes, release", vt.MouseDefault, mouseAt(ButtonRight, MouseRelease, 0, 0, Ctrl), "\x1b[M3!!"},
		{"bytes, motion", vt.MouseDefault, mouseAt(ButtonNone, MouseMotion, 0, 0, 0), "\x1b[MC!!"},
		{"bytes, wheel", vt.MouseDefault, mouseAt(WheelDown, MousePress, 0, 0, Shift|Alt), "\x1b[Mm!!"},
		{"bytes, last", vt.MouseDefault, mouseAt(ButtonLeft, MousePress, 222, 222, 0), "\x1b[M \xff\xff"},
		{"bytes, beyond", vt.MouseDefault, mouseAt(ButtonLeft, MousePress, 223, 0, 0), ""},
		{"bytes, beyond", vt.MouseDefault, mouseAt(ButtonLeft, MousePress, 0, 223, 0), ""},
		{"utf-8", vt.MouseUTF8, mouseAt(ButtonLeft, MousePress, 94, 95, 0), "\x1b[M \x7f\u0080"},
		{"utf-8, last", vt.MouseUTF8, mouseAt(ButtonLeft, MousePress, 2014, 0, 0), "\x1b[M \u07ff!"},
		{"utf-8, beyond", vt.MouseUTF8, mouseAt(ButtonLeft, MousePress, 2015, 0, 0), ""},
		{"sgr", vt.MouseSGR, mouseAt(ButtonLeft, MousePress, 0, 1, Ctrl), "\x1b[<16;1;2M"},
		{"sgr, release", vt.MouseSGR, mouseAt(ButtonRight, MouseRelease, 2999, 0, 0), "\x1b[<2;3000;1m"},
		{"sgr, button 8", vt.MouseSGR, mouseAt(Button8, MousePress, 0, 0, 0), "\x1b[<128;1;1M"},
		{"urxvt", vt.MouseURXVT, mouseAt(ButtonLeft, MousePress, 299, 1, 0), "\x1b[32;300;2M"},
		{"urxvt, release", vt.MouseURXVT, mouseAt(ButtonLeft, MouseRelease, 0, 0, 0), "\x1b[35;1;1M"},
		{"pixels", vt.MouseSGRPixels, mouseAt(ButtonLeft, MouseMotion, 1919, 1079, 0), "\x1b[<32;1920;1080M"},
		{"outside", vt.MouseSGR, mouseAt(ButtonLeft, MousePress, -1, 0, 0), ""},
		{"outside", vt.MouseSGR, mouseAt(ButtonLeft, MousePress, 0, -1, 0), ""},
	} {
		require.Equal(t, c.want, string(AppendMouse(nil, c.e, vt.Modes{Mouse: vt.MouseAny, MouseEncoding: c.enc})), c.name)
	}
}

func TestMouseTracking(t *testing.T) {
	press, release := mouseAt(ButtonLeft, MousePress, 0, 0, Ctrl), mouseAt(ButtonLeft, MouseRelease, 0, 0, 0)
	drag, move := mouseAt(ButtonLeft, MouseMotion, 0, 0, 0), mouseAt(ButtonNone, MouseMotion, 0, 0, 0)
	wheel, wheelEnd := mouseAt(WheelUp, MousePress, 0, 0, 0), mouseAt(WheelUp, MouseRelease, 0, 0, 0)
	for mode, want := range map[vt.MouseTracking][]string{
		vt.MouseNone:   {"", "", "", "", "", ""},
		vt.MouseX10:    {"\x1b[<0;1;1M", "", "", "", "", ""},
		vt.MouseNormal: {"\x1b[<16;1;1M", "\x1b[<0;1;1m", "", "", "\x1b[<64;1;1M", ""},
		vt.MouseButton: {"\x1b[<16;1;1M", "\x1b[<0;1;1m", "\x1b[<32;1;1M", "", "\x1b[<64;1;1M", ""},
		vt.MouseAny:    {"\x1b[<16;1;1M", "\x1b[<0;1;1m", "\x1b[<32;1;1M", "\x1b[<35;1;1M", "\x1b[<64;1;1M", ""},
	} {
		for i, e := range []Event{press, release, drag, move, wheel, wheelEnd} {
			require.Equal(t, want[i], string(AppendMouse(nil, e, vt.Modes{Mouse: mode, MouseEncoding: vt.MouseSGR})), "mode %d, event %d", mode, i)
		}
	}
}

func TestFocus(t *testing.T) {
	require.Equal(t, "\x1b[I\x1b[O", string(AppendFocus(AppendFocus(nil, true, vt.Modes{FocusEvents: true}), false, vt.Modes{FocusEvents: true})))
	require.Empty(t, AppendFocus(nil, true, vt.Modes{}))
}

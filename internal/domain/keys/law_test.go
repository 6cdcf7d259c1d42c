package keys

import (
	"fmt"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/vt"
)

// drawModes draws every mode that changes input.
func drawModes(t *rapid.T) vt.Modes {
	return vt.Modes{
		AppCursor: rapid.Bool().Draw(t, "DECCKM"), AppKeypad: rapid.Bool().Draw(t, "DECKPAM"),
		FocusEvents: true, BracketedPaste: true,
		Mouse:           vt.MouseTracking(rapid.IntRange(0, 4).Draw(t, "mouse")),
		MouseEncoding:   vt.MouseEncoding(rapid.IntRange(0, 4).Draw(t, "encoding")),
		KittyFlags:      rapid.OneOf(rapid.Just(uint8(0)), rapid.Uint8Range(0, 31)).Draw(t, "kitty"),
		ModifyOtherKeys: rapid.Uint8Range(0, 2).Draw(t, "modifyOtherKeys"),
		FormatOtherKeys: rapid.Bool().Draw(t, "formatOtherKeys"),
	}
}

var someKeys = func() (all []Key) {
	for k := Insert; k <= lastKittyKey; k++ {
		all = append(all, k)
	}
	return all
}()

func drawKey(t *rapid.T) Event {
	e := Event{Kind: KeyEvent}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		e.Key = rapid.SampledFrom(someKeys).Draw(t, "key")
	case 1:
		e.Key = rapid.SampledFrom([]Key{Tab, Enter, Escape, Backspace, Space}).Draw(t, "control")
	case 2:
		e.Key = Key(rapid.SampledFrom([]rune("abhijmz019,.;/\\[]-=`~!@éсß測🙂")).Draw(t, "char"))
		if rapid.IntRange(0, 3).Draw(t, "base") == 0 {
			e.Base = Key(rapid.RuneFrom([]rune("acx1;")).Draw(t, "layout"))
		}
	case 3:
		e = Char(rapid.RuneFrom(nil, unicode.L, unicode.N, unicode.P, unicode.S).Draw(t, "rune"))
	}
	e.Mods |= Mods(rapid.Byte().Draw(t, "mods")) & Mods(rapid.SampledFrom([]int{0, 1, 7, 15, 255}).Draw(t, "mask"))
	e.Action = Action(rapid.IntRange(0, 2).Draw(t, "action"))
	e.shiftedLetter()
	return e
}

// carried is the event that a form can carry at most: what the receiver of an exact encoding knows.
func carried(e Event, m vt.Modes) Event {
	flags := m.KittyFlags
	if flags&KittyEvents == 0 && e.Action == Repeat {
		e.Action = Press
	}
	if flags&KittyAlternates == 0 {
		e.Base = 0
		if e.Shifted != 0 && e.Shifted != Key(unicode.ToUpper(rune(e.Key))) {
			e.Shifted = 0
		}
	}
	if e.Base == e.Key {
		e.Base = 0
	}
	return e
}

// TestAllKeysComeBack: with every key reported as an escape code each event comes back as far as the flags tell it.
func TestAllKeysComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e, m := drawKey(rt), drawModes(rt)
		m.KittyFlags |= KittyAllKeys
		out, exact := AppendKey(nil, e, m)
		want := carried(e, m)
		if e.Action == Release && m.KittyFlags&KittyEvents == 0 {
			if len(out) > 0 {
				rt.Fatalf("a release is %q", out)
			}
			return
		}
		if got := decode(&Decoder{}, string(out)); len(got) != 1 || got[0].e != want || !exact {
			rt.Fatalf("%+v is %q, which is %+v", want, out, got)
		}
	})
}

// TestKeysComeBack: in any mode what is sent decodes to one event that is sent alike again; and unless it is a legacy form
// that several keys share, it is the event itself.
func TestKeysComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e, m := drawKey(rt), drawModes(rt)
		m.NewLine = false
		out, exact := AppendKey(nil, e, m)
		if len(out) == 0 {
			return
		}
		got := decode(&Decoder{}, string(out))
		if len(got) != 1 || got[0].e.Kind != KeyEvent {
			rt.Fatalf("%+v is %q, which is %+v", e, out, got)
		}
		again, _ := AppendKey(nil, got[0].e, m)
		if string(again) != string(out) && !ambiguous(e) {
			rt.Fatalf("%+v is %q, which is %+v, which is %q", e, out, got[0].e, again)
		}
		if want := carried(e, m); exact && distinct(e, m) && got[0].e != want {
			rt.Fatalf("%+v is %q, which is %+v", want, out, got[0].e)
		}
	})
}

// ambiguous: legacy bytes that decode to another key, which has a form of its own in the modes: Ctrl-3 is Escape, Ctrl-8
// Backspace, Ctrl-I Tab; a key of the keypad is one beside it; F13 is F1 with Shift.
func ambiguous(e Event) bool {
	return e.Key.isKeypad() || e.Key >= F13 && e.Key <= F24 || e.Mods&Ctrl != 0
}

// distinct: the event has a form that no other event has.
func distinct(e Event, m vt.Modes) bool {
	mods := e.Mods &^ Shift
	switch _, hasForm := formOf(e.Key); {
	case e.Key == F3 && e.Mods == 0:
		return true
	case hasForm && m.KittyFlags&(KittyDisambiguate|KittyAllKeys) != 0:
		return true
	case hasForm:
		return e.Mods&locks == 0
	case e.Key.isChar() && mods == 0:
		return e.Base == 0 && (e.Mods == 0 || Char(rune(e.Shifted)).Key == e.Key) && carried(e, m).Action == Press
	case m.KittyFlags&KittyDisambiguate != 0:
		return e.Mods&locks == 0 && e.Base == 0 && mods != 0
	}
	return false
}

// TestMouseComesBack: each event that a mode reports comes back, but for the button of a release, which only SGR tells, and
// the modifiers, which X10 does not tell.
func TestMouseComesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := drawModes(rt)
		e := Event{Kind: MouseEvent, Mods: Mods(rapid.IntRange(0, 7).Draw(rt, "mods"))}
		e.Mouse.Action = MouseAction(rapid.IntRange(0, 2).Draw(rt, "action"))
		e.Mouse.Button = rapid.SampledFrom([]Button{
			ButtonLeft, ButtonMiddle, ButtonRight, WheelUp, WheelDown, WheelLeft, WheelRight, Button8, Button9, Button10, Button11,
		}).Draw(rt, "button")
		if e.Mouse.Action == MouseMotion && rapid.Bool().Draw(rt, "none") {
			e.Mouse.Button = ButtonNone
		}
		limit := rapid.SampledFrom([]int{90, 222, 2014, 1 << 20}).Draw(rt, "limit")
		e.Mouse.X, e.Mouse.Y = rapid.IntRange(0, limit).Draw(rt, "x"), rapid.IntRange(0, limit).Draw(rt, "y")
		out := AppendMouse(nil, e, m)
		far := max(e.Mouse.X, e.Mouse.Y)
		carries := reports(m.Mouse, e.Mouse) && !(m.MouseEncoding == vt.MouseDefault && far > MaxMouseBytes) &&
			!(m.MouseEncoding == vt.MouseUTF8 && far > MaxMouseUTF8)
		if carries != (len(out) > 0) {
			rt.Fatalf("%+v is %q", e, out)
		}
		if !carries {
			return
		}
		want := e
		if m.MouseEncoding != vt.MouseSGR && m.MouseEncoding != vt.MouseSGRPixels && e.Mouse.Action == MouseRelease {
			want.Mouse.Button = ButtonNone
		}
		if m.Mouse == vt.MouseX10 {
			want.Mods = 0
		}
		got := decode(&Decoder{}, readable(string(out), m))
		if len(got) != 1 || got[0].e != want {
			rt.Fatalf("%+v is %q, which is %+v", want, out, got)
		}
	})
}

// readable is a mouse report in a form that is decoded: urxvt's for UTF-8, which no terminal is asked for.
func readable(out string, m vt.Modes) string {
	if m.MouseEncoding != vt.MouseUTF8 {
		return out
	}
	v := []rune(out)[len("\x1b[M"):]
	return fmt.Sprintf("\x1b[%d;%d;%dM", v[0], v[1]-32, v[2]-32)
}

// TestDecodingIsSplitProof: any bytes, cut anywhere, give the same events and lose no byte.
func TestDecodingIsSplitProof(t *testing.T) {
	words := []string{
		"a", "é", "\x1b", "\x1b[", "\x1bO", "\x1b[A", "\x1b[1;5", "C", "\x1b[<0;1;1M", "\x1b[M", "!", "\x1b[200~", "\x1b[201~", "\x1b[20",
		"\x1b]", "\x1b\\", "\a", "\xc3", "\xff", "\x1c", "1", ";", ":", "~", "u", "$", "\x1b[97;5u", "11111111111111111111111111111111", "\x00", "R",
	}
	rapid.Check(t, func(rt *rapid.T) {
		var in string
		for _, w := range rapid.SliceOfN(rapid.SampledFrom(words), 1, 20).Draw(rt, "words") {
			in += w
		}
		var d Decoder
		want := decode(&Decoder{}, in)
		var reads []string
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "read")
			reads, rest = append(reads, rest[:n]), rest[n:]
		}
		got := decode(&d, reads...)
		if len(got) != len(want) {
			rt.Fatalf("%q: %v, whole: %v", reads, got, want)
		}
		all := ""
		for i := range got {
			if got[i] != want[i] {
				rt.Fatalf("%q: %v, whole: %v", reads, got[i], want[i])
			}
			all += got[i].raw
		}
		if len(all) < len(in) && !d.Pasting() || in[:len(all)] != all {
			rt.Fatalf("%q became %q", in, all)
		}
	})
}

package keys

import (
	"testing"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/vt"
)

// FuzzDecode: no input makes the decoder wait beyond its bounds, or makes a difference by its cuts; what it took for a key
// can be encoded in every mode.
func FuzzDecode(f *testing.F) {
	for _, c := range decodeCases {
		f.Add([]byte(c.in), uint8(len(c.in)/2), uint8(0))
	}
	f.Fuzz(func(t *testing.T, in []byte, cut, how uint8) {
		if len(in) == 0 {
			return
		}
		want := decode(&Decoder{}, string(in))
		at := int(cut) % len(in)
		got := decode(&Decoder{}, string(in[:at]), string(in[at:]))
		if len(want) != len(got) {
			t.Fatalf("%q cut at %d: %v, whole: %v", in, at, got, want)
		}
		m := vt.Modes{KittyFlags: how & 31, ModifyOtherKeys: how >> 5 % 3, Mouse: vt.MouseAny, MouseEncoding: vt.MouseEncoding(how >> 3 % 5)}
		for _, x := range want {
			switch x.e.Kind {
			case KeyEvent:
				AppendKey(nil, x.e, m)
				if !utf8.ValidString(x.e.Text) {
					t.Fatalf("%q has text %q", x.raw, x.e.Text)
				}
			case MouseEvent:
				AppendMouse(nil, x.e, m)
			}
		}
	})
}

// FuzzEncode: any event in any modes is bytes that decode to one event of its kind, or none.
func FuzzEncode(f *testing.F) {
	f.Add(int32('a'), int32('A'), int32('c'), uint8(7), uint8(0), "", uint32(0x1f), uint8(0), 10, 20)
	f.Add(int32(F5), int32(0), int32(0), uint8(255), uint8(2), "né", uint32(0x20001), uint8(66), 222, 2014)
	f.Fuzz(func(t *testing.T, key, shifted, base int32, mods, action uint8, text string, set uint32, button uint8, x, y int) {
		bit := func(i int) bool { return set>>i&1 != 0 }
		m := vt.Modes{
			KittyFlags: uint8(set) & 31, AppCursor: bit(5), AppKeypad: bit(6), Backarrow: bit(7), FormatOtherKeys: bit(8),
			ModifyOtherKeys: uint8(set >> 9 & 3 % 3), Mouse: vt.MouseTracking(set >> 11 & 7 % 5), MouseEncoding: vt.MouseEncoding(set >> 14 & 7 % 5),
		}
		e := Event{
			Kind: KeyEvent, Key: Key(key), Shifted: Key(shifted), Base: Key(base), Mods: Mods(mods), Action: Action(action % 3),
		}
		if out, _ := AppendKey(nil, e, m); len(out) > 0 {
			if got := decode(&Decoder{}, string(out)); len(got) != 1 || got[0].e.Kind != KeyEvent {
				t.Fatalf("%+v in %+v is %q, which is %+v", e, m, out, got)
			}
		}
		e.Text = text
		AppendKey(nil, e, m)
		e = Event{Kind: MouseEvent, Mods: Mods(mods), Mouse: Mouse{Button: Button(button &^ 60), Action: MouseAction(action % 3), X: x, Y: y}}
		if out := AppendMouse(nil, e, m); len(out) > 0 {
			if got := decode(&Decoder{}, readable(string(out), m)); len(got) != 1 || got[0].e.Kind != MouseEvent && x < 1<<20 && y < 1<<20 {
				t.Fatalf("%+v in %+v is %q, which is %+v", e, m, out, got)
			}
		}
	})
}

// FuzzPaste: no paste ends its own brackets, however it is cut.
func FuzzPaste(f *testing.F) {
	f.Add([]byte("a\x1b[201~\rb\xc2\x9b201~\xc2\xc2\x9b\x9b"), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, cut uint8) {
		m := vt.Modes{BracketedPaste: true}
		at := int(cut) % (len(in) + 1)
		out := pasted(m, string(in[:at]), string(in[at:]))
		if whole := pasted(m, string(in)); whole != out {
			t.Fatalf("%q cut at %d: %q, whole: %q", in, at, out, whole)
		}
		text := out[len(pasteBegin) : len(out)-len(pasteEnd)]
		for i := range len(text) {
			if c := text[i]; c < 0x20 && c != '\r' && c != '\t' || c == 0x7f || c < 0xa0 && c >= 0x80 && i > 0 && text[i-1] == 0xc2 {
				t.Fatalf("%q in %q", c, out)
			}
		}
	})
}

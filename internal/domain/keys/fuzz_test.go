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
		d := Decoder{StringsAsked: how&1 != 0, CursorAsked: how&2 != 0}
		if how&4 != 0 {
			d.Encoding = vt.MouseUTF8
		}
		whole := d
		want := decode(&whole, string(in))
		at := int(cut) % len(in)
		got := decode(&d, string(in[:at]), string(in[at:]))
		if !d.StringsAsked && len(want) != len(got) {
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

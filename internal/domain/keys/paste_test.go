package keys

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/vt"
)

func pasted(m vt.Modes, parts ...string) string {
	var p Paste
	out := p.Begin(nil, m)
	for _, s := range parts {
		out = p.Append(out, []byte(s))
	}
	return string(p.End(out, m))
}

func TestPasteIsCleaned(t *testing.T) {
	for in, want := range map[string]string{
		"ls -l\n":             "ls -l\r",
		"a\r\nb\rc\n\nd\r\n":  "a\rb\rc\r\rd\r",
		"\ttab":               "\ttab",
		"a\x1b[201~\rb":       "a[201~\rb",
		"a\u009b201~b":        "a201~b",
		"\x1b[20\x1b[201~1~x": "[20[201~1~x",
		"\x00\x03\x04\b\x7fx": "x",
		"é ě \u00a0€ \u0080":  "é ě \u00a0€ ",
		"\xc2":                "",
		"\xc2\xc2\x9b\x9b":    "\x9b",
		"\xff raw \x9b":       "\xff raw \x9b",
	} {
		require.Equal(t, want, pasted(vt.Modes{}, in), "%q", in)
		require.Equal(t, "\x1b[200~"+want+"\x1b[201~", pasted(vt.Modes{BracketedPaste: true}, in), "%q", in)
		for cut := range len(in) {
			require.Equal(t, want, pasted(vt.Modes{}, in[:cut], in[cut:]), "%q at %d", in, cut)
		}
	}
}

// TestNoPasteEndsItsBrackets: whatever is pasted, a program that reads with or without C1 finds one end.
func TestNoPasteEndsItsBrackets(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := vt.Modes{BracketedPaste: true}
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"\x1b[201~", "\x1b", "[201~", "\xc2", "\x9b", "\u009b201~", "\r", "\n", "a", "\x1b[20"})).Draw(rt, "pieces")
		out := pasted(m, pieces...)
		text := out[len(pasteBegin) : len(out)-len(pasteEnd)]
		for i := range len(text) {
			if c := text[i]; c < 0x20 && c != '\r' && c != '\t' || c == 0x9b && i > 0 && text[i-1] == 0xc2 {
				rt.Fatalf("%q in %q", text[i], out)
			}
		}
		got := decode(&Decoder{}, out)
		if last := got[len(got)-1]; last.e.Kind != PasteEnd || len(got) > 3 {
			rt.Fatalf("%v", got)
		}
	})
}

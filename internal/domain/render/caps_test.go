package render

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/vt"
)

func TestEnvironment(t *testing.T) {
	basic := func(c Colors) Capabilities { return Capabilities{Colors: c, Basic: true, CutsLines: true} }
	rich := func(c Colors) Capabilities { return Capabilities{Colors: c} }
	for _, c := range []struct {
		env  Environment
		want Capabilities
	}{
		{Environment{Term: "xterm-256color"}, rich(Colors256)},
		{Environment{Term: "xterm-256color", ColorTerm: "truecolor"}, rich(ColorsDirect)},
		{Environment{Term: "xterm-256color", ColorTerm: "24bit"}, rich(ColorsDirect)},
		{Environment{Term: "xterm-256color", ColorTerm: "yes"}, rich(Colors256)},
		{Environment{Term: "xterm-256color", ColorTerm: "truecolor", NoColor: "1"}, rich(ColorsNone)},
		{Environment{Term: "xterm"}, rich(Colors256)},
		{Environment{Term: "xterm", XTerm: "XTerm(379)"}, Capabilities{Colors: Colors256, CutsLines: true}},
		{Environment{Term: "tmux-256color", Tmux: "/tmp/x", XTerm: "XTerm(379)"}, rich(Colors256)},
		{Environment{Term: "xterm-direct"}, rich(ColorsDirect)},
		{Environment{Term: "xterm-kitty"}, rich(ColorsDirect)},
		{Environment{Term: "tmux-256color"}, rich(Colors256)},
		{Environment{Term: "screen-256color", Tmux: "/tmp/x"}, rich(Colors256)},
		{Environment{Term: "screen", Tmux: "/tmp/x", ColorTerm: "truecolor"}, rich(ColorsDirect)},
		{Environment{Term: "screen", ColorTerm: "truecolor"}, basic(Colors8)},
		{Environment{Term: "screen.xterm-256color", ColorTerm: "truecolor"}, basic(Colors256)},
		{Environment{Term: "screen-256color-bce"}, basic(Colors256)},
		{Environment{Term: "linux", ColorTerm: "truecolor"}, basic(Colors16)},
		{Environment{Term: "linux", NoColor: "1"}, basic(ColorsNone)},
		{Environment{Term: "vt100"}, basic(ColorsNone)},
		{Environment{Term: "vt220"}, basic(ColorsNone)},
		{Environment{Term: "dumb", ColorTerm: "truecolor"}, basic(ColorsNone)},
		{Environment{Term: "nonsense"}, rich(Colors256)},
		{Environment{}, basic(ColorsNone)},
	} {
		require.Equal(t, c.want, c.env.Capabilities(), "%+v", c.env)
	}
}

func TestColorsAreReduced(t *testing.T) {
	for _, c := range []struct {
		colors Colors
		in     vt.Color
		want   vt.Color
	}{
		{ColorsDirect, vt.RGB(1, 2, 3), vt.RGB(1, 2, 3)},
		{Colors256, vt.RGB(255, 0, 0), vt.Indexed(196)},
		{Colors256, vt.RGB(95, 135, 175), vt.Indexed(67)},
		{Colors256, vt.RGB(8, 8, 8), vt.Indexed(232)},
		{Colors256, vt.RGB(100, 100, 100), vt.Indexed(241)},
		{Colors256, vt.RGB(255, 255, 255), vt.Indexed(231)},
		{Colors256, vt.RGB(0, 0, 0), vt.Indexed(16)},
		{Colors256, vt.Indexed(200), vt.Indexed(200)},
		{Colors16, vt.RGB(250, 10, 10), vt.Indexed(9)},
		{Colors16, vt.RGB(200, 10, 10), vt.Indexed(1)},
		{Colors16, vt.RGB(130, 130, 130), vt.Indexed(8)},
		{Colors16, vt.Indexed(196), vt.Indexed(9)},
		{Colors16, vt.Indexed(12), vt.Indexed(12)},
		{Colors8, vt.Indexed(9), vt.Indexed(1)},
		{Colors8, vt.Indexed(3), vt.Indexed(3)},
		{ColorsNone, vt.Indexed(3), 0},
		{ColorsNone, vt.RGB(1, 2, 3), 0},
	} {
		require.Equal(t, c.want, Capabilities{Colors: c.colors}.color(c.in, noColor), "%v in %d", c.in, c.colors)
	}
}

// TestReducedTextStaysReadable: text and background that differ do not become one colour, and a reduced style is one that
// the terminal can show.
func TestReducedTextStaysReadable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		color := func(name string) vt.Color {
			n := rapid.Uint32Range(0, 1<<24+255).Draw(t, name)
			if n >= 1<<24 {
				return vt.Indexed(uint8(n))
			}
			return vt.RGB(uint8(n>>16), uint8(n>>8), uint8(n))
		}
		s := vt.Style{Fg: color("fg"), Bg: color("bg"), Attrs: vt.Attrs(rapid.Uint16Range(0, 0xff).Draw(t, "attrs"))}
		c := Capabilities{Colors: rapid.SampledFrom([]Colors{Colors16, Colors8}).Draw(t, "colors"), Basic: true}
		got := c.style(s)
		if s.Fg != s.Bg && got.Fg == got.Bg {
			t.Fatalf("%v on %v becomes %v on %v", s.Fg, s.Bg, got.Fg, got.Bg)
		}
		require.Equal(t, got, c.style(got), "twice is once")
	})
}

// basicOutput is all that a basic terminal may be sent: text, motions, erasing, margins, modes and SGR.
var basicOutput = regexp.MustCompile(`^(?:[^\x00-\x1f\x7f\x{80}-\x{9f}]|[\r\n\x08\x0f]|\x1b(?:[M=>]|\(B)|\x1b\[(?:` +
	`[0-9]*(?:;[0-9]+)?H|[0-9]*[ABCDJK]|(?:[0-9]+;[0-9]+)?r|\?[0-9]+[hl]|(?:4|20)[hl]|` +
	`(?:[0-9]+;?)*m))*$`)

var sgr = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

func TestBasicTerminalsGetNothingElse(t *testing.T) {
	params := regexp.MustCompile(`^(?:(?:0|1|2|4|5|7|3[0-7]|39|4[0-7]|49|9[0-7]|10[0-7])(?:;|$))*$`)
	rapid.Check(t, func(t *rapid.T) {
		caps := Capabilities{Colors: rapid.SampledFrom([]Colors{Colors16, ColorsNone}).Draw(t, "colors"), Basic: true}
		p := NewPainter(UserTerminal, caps)
		out := p.Enter(nil)
		src := vt.New(vt.Options{Cols: 20, Rows: 6})
		for range rapid.IntRange(1, 4).Draw(t, "frames") {
			src.Write([]byte(outputs(t)))
			var f Frame
			f.SetTerminal(src)
			out = p.Paint(out, &f)
		}
		if !basicOutput.Match(out) {
			t.Fatalf("%q", out)
		}
		for _, m := range sgr.FindAllSubmatch(out, -1) {
			if !params.Match(m[1]) {
				t.Fatalf("%q in %q", m[0], out)
			}
			if caps.Colors == ColorsNone && regexp.MustCompile(`\b[34][0-79]\b|\b9[0-7]\b`).Match(m[1]) {
				t.Fatalf("a colour: %q", m[0])
			}
		}
		if left := p.Leave(nil); regexp.MustCompile(`\x1b[\]P_^X]|\x1b\[[<=>]|:`).Match(left) {
			t.Fatalf("leave %q", left)
		}
	})
}

//go:build linux

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// TestBC28PasteThatCarriesTheEndMarker: readline takes the whole payload for text, the markers in it and their 8-bit
// spelling too.
func TestBC28PasteThatCarriesTheEndMarker(t *testing.T) {
	bash := need(t, "bash")
	h := newHome(t)
	h.ok("new", "x", "-d", "--", bash, "--norc", "--noprofile", "-i")
	h.waitText("x", `\$ *$`)
	payload := h.write("payload", []byte("echo safe\x1b[201~\recho pwned-$((6*7))\r\xc2\x9b201~\r"))
	h.ok("paste", "x", payload)
	h.waitText("x", `echo safe\[201~`)
	h.ok("send", "x", " done")
	h.waitText("x", "done")
	require.NotContains(t, h.ok("capture", "x"), "pwned-42")
}

// TestMouseIsEncodedForTheProgram: the terminal reports in SGR what the program reads in bytes.
func TestMouseIsEncodedForTheProgram(t *testing.T) {
	h := newHome(t)
	h.sh("x", `stty raw -echo; printf '\033[?1000h\033[1;1Hready'; exec cat -v`)
	h.waitText("x", "ready")
	tt := newTerm(t, 80, 24)
	p := tt.vev(h, "attach", "x")
	tt.until("the mouse", func(s *vt.Terminal) bool {
		return s.Modes().Mouse == vt.MouseNormal && s.Modes().MouseEncoding == vt.MouseSGR
	})
	tt.typ("\x1b[<0;3;2M\x1b[<0;3;2m")
	tt.until("presses in bytes", func(s *vt.Terminal) bool { return strings.Contains(textOf(s), `^[[M #"^[[M##"`) })
	tt.typ("\x1cd")
	require.Zero(t, p.exits())
}

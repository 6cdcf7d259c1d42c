package keys

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// TestKeysAllocateNothing: what is typed, and every motion of the mouse, is decoded and encoded in the caller's memory.
func TestKeysAllocateNothing(t *testing.T) {
	in := []byte("aé\x03\x1bx\x1b[A\x1b[1;5C\x1bOP\x1b[97;5u\x1b[27;5;97~\x1b[<35;10;20M\x1b[M !!\x1b[I\x1b[200~text\x1b[201~\x1b[?1u")
	out := make([]byte, 0, 256)
	modes := []vt.Modes{
		{Mouse: vt.MouseAny, MouseEncoding: vt.MouseSGR}, {Mouse: vt.MouseAny, ModifyOtherKeys: 2}, {Mouse: vt.MouseAny, KittyFlags: 31},
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var d Decoder
		for p := in; len(p) > 0; {
			e, n := d.Next(p, true)
			p = p[n:]
			for _, m := range modes {
				switch e.Kind {
				case KeyEvent:
					AppendKey(out, e, m)
				case MouseEvent:
					AppendMouse(out, e, m)
				}
			}
		}
	}))
}

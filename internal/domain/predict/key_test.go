package predict

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMouseBytesAreNotTyped: the three bytes of a report in the oldest encoding are no characters, however they look.
func TestMouseBytesAreNotTyped(t *testing.T) {
	for in, want := range map[string]int{"\x1b[M !\"x": 1, "\x1b[Mabcx": 1, "\x1b[<0;1;1Mx": 1, "\x1b[1Mxyz": 3, "xyz": 3} {
		var p parser
		printed := 0
		for i := range len(in) {
			if k, whole := p.next(in[i]); whole && k.kind == keyPrint {
				printed++
			}
		}
		require.Equal(t, want, printed, "%q", in)
	}
}

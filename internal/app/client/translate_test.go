package client

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestKeysOfATerminalWithoutKittysProtocol: a program that has set flags gets what they mean from a terminal that does not
// know them (BC-29).
func TestKeysOfATerminalWithoutKittysProtocol(t *testing.T) {
	for _, c := range []struct{ name, mode, in, want string }{
		{"no flags", "", "\x03\x1bx", "\x03\x1bx"},
		{"control keys", "\x1b[>1u", "a\x03b\x00\x1d", "a\x1b[99;5ub\x1b[32;5u\x1b[93;5u"},
		{"alt", "\x1b[>1u", "\x1bx\x1bX\x1bé", "\x1b[120;3u\x1b[120;4u\x1b[233;3u"},
		{"what a shell needs", "\x1b[>1u", "ls\t\r\n\x7f\b", "ls\t\r\n\x7f\b"},
		{"escape alone", "\x1b[>1u", "\x1b", "\x1b"},
		{"function keys", "\x1b[>1u", "\x1b[A\x1bOP\x1b[1;5C\x1b[15~", "\x1b[A\x1bOP\x1b[1;5C\x1b[15~"},
		{"a paste", "\x1b[>9u\x1b[?2004h", "\x1b[200~a\x03\x1bx\x1b[201~", "\x1b[200~a\x03\x1bx\x1b[201~"},
		{"all keys", "\x1b[>8u", "aB\ré\x7f", "\x1b[97u\x1b[98;2u\x1b[13u\x1b[233u\x1b[127u"},
		{"all keys and text", "\x1b[>24u", "aB", "\x1b[97;;97u\x1b[98;2;66u"},
		{"a terminal that knows it", "\x1b[>1u", "\x1b[97;5u\x03\x1bx", "\x1b[97;5u\x03\x1bx"},
		{"flags that change no form", "\x1b[>4u", "\x03", "\x03"},
	} {
		attached(t, nil, func(a *attachment) {
			a.daemon.prints(c.mode)
			synctest.Wait()
			a.types(c.in)
			require.Equal(t, c.want, a.daemon.typed(), c.name)
		})
	}
}

func TestKeysOfATerminalThatIsNotAskedForTheProtocol(t *testing.T) {
	attached(t, func(a *attachment) { a.opts.Capabilities.Basic = true }, func(a *attachment) {
		a.daemon.prints("\x1b[>1u")
		synctest.Wait()
		require.Zero(t, a.term.vt.Modes().KittyFlags)
		a.types("\x03")
		require.Equal(t, "\x1b[99;5u", a.daemon.typed())
	})
}

func TestTheLeaderIsSeenAmongTranslatedKeys(t *testing.T) {
	for _, mode := range []string{"\x1b[>1u", "\x1b[>8u"} {
		attached(t, nil, func(a *attachment) {
			a.daemon.prints(mode)
			synctest.Wait()
			a.types("\x03" + lead)
			a.types(lead + "\x03")
			require.Equal(t, "\x1b[99;5u\x1c\x1b[99;5u", a.daemon.typed())
		})
	}
}
